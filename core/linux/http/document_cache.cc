#include "core/linux/http/document_cache.h"

#include <algorithm>

namespace cableway::host {

void DocumentCache::get(const std::string& name, Clock::time_point now, Receive receive) {
  Entry& entry = entries_[name];
  entry.asked = now;
  if (now < entry.fresh_until) return receive(entry.document);
  entry.waiting.push_back(std::move(receive));
  if (entry.in_making) return;
  entry.in_making = true;
  make_(name, [this, name](const MadeDocument& document) { made(name, document); });
}

void DocumentCache::made(const std::string& name, const MadeDocument& made) {
  Entry& entry = entries_[name];
  entry.in_making = false;
  entry.document = made.document;
  entry.fresh_until = Clock::now() + std::max<std::chrono::nanoseconds>(kFresh, kCostShare * made.cost);
  for (const Receive& receive : std::exchange(entry.waiting, {})) receive(made.document);
}

void DocumentCache::forget_unused(Clock::time_point now) {
  std::erase_if(entries_,
                [&](const auto& each) { return !each.second.in_making && now - each.second.asked > kForgotten; });
}

}  // namespace cableway::host
