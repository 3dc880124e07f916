#include "core/linux/http/document_cache.h"

#include <algorithm>

namespace cableway::host {

void DocumentCache::get(const std::string& name, Clock::time_point now, Receive receive) {
  Entry& entry = entries_[name];
  entry.asked = now;
  entry.is_due = now >= entry.fresh_until;
  if (!entry.is_due || (entry.is_made && !entry.in_making && !has_turn(entry, now))) return receive(entry.document);
  entry.waiting.push_back(std::move(receive));
  if (entry.in_making) return;
  entry.in_making = true;
  entry.begun = now;
  make_(name, [this, name](const MadeDocument& document) { made(name, document); });
}

// Those that have waited longest come first, or documents that are asked for first would use up all the time.
bool DocumentCache::has_turn(const Entry& entry, Clock::time_point now) const {
  if (now < spent_until_) return false;
  return std::none_of(entries_.begin(), entries_.end(), [&](const auto& each) {
    const Entry& other = each.second;
    return other.is_due && !other.in_making && other.begun < entry.begun && now - other.asked <= 2 * kFresh;
  });
}

bool DocumentCache::is_stuck(Clock::time_point now) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& each) { return each.second.in_making && now - each.second.begun > kStuck; });
}

void DocumentCache::made(const std::string& name, const MadeDocument& made) {
  Entry& entry = entries_[name];
  const Clock::time_point now = Clock::now();
  entry.in_making = entry.is_due = false;
  entry.is_made = true;
  entry.document = made.document;
  entry.fresh_until = now + std::max<std::chrono::nanoseconds>(kFresh, kCostShare * made.cost);
  spent_until_ = std::max(spent_until_, now) + kCostShare * made.cost;
  for (const Receive& receive : std::exchange(entry.waiting, {})) receive(made.document);
}

void DocumentCache::forget_unused(Clock::time_point now) {
  // What is forgotten is made at once when it is asked for again.
  if (now < spent_until_) return;
  std::erase_if(entries_,
                [&](const auto& each) { return !each.second.in_making && now - each.second.asked > kForgotten; });
}

}  // namespace cableway::host
