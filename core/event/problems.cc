#include "core/event/problems.h"

#include <cstddef>
#include <iterator>
#include <utility>

namespace cableway {

std::optional<Problem> Problems::note(const Key& key, const std::string& interface, std::string text, Instant now,
                                      std::string neighbour) {
  const auto known = problems_.find(key);
  if (known != problems_.end()) {
    known->second.last_seen = now;
    known->second.text = std::move(text);
    known->second.neighbour = std::move(neighbour);
    return std::nullopt;
  }
  const auto first = problems_.lower_bound({key.port, key.code, 0});
  const auto last = problems_.upper_bound({key.port, key.code, UINT64_MAX});
  if (problems_.size() >= kMax || std::distance(first, last) >= std::ptrdiff_t{kMaxOfOneKind}) return std::nullopt;
  Problem problem{key.code, interface, std::move(text), now, now, std::move(neighbour)};
  return problems_.emplace(key, std::move(problem)).first->second;
}

void Problems::clear_if(const std::function<bool(std::uint32_t port)>& gone) {
  std::erase_if(problems_, [&](const auto& each) { return gone(each.first.port); });
}

void Problems::expire(Instant now) {
  std::erase_if(problems_, [&](const auto& each) { return now - each.second.last_seen >= kLasts; });
}

std::vector<Problem> Problems::all() const {
  std::vector<Problem> problems;
  for (const auto& [key, problem] : problems_) problems.push_back(problem);
  return problems;
}

}  // namespace cableway
