#include "routing/link_state/link_state_database.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "routing/link_state/advertisement_weight.h"

namespace cableway::routing {

LinkStateDatabase::Entry LinkStateDatabase::entry_of(Advertisement&& advertisement, Milliseconds born,
                                                     Milliseconds held_since) const {
  if (pool_ != nullptr) return {pool_->keep(std::move(advertisement)), born, held_since};
  return {std::make_shared<const Advertisement>(std::move(advertisement)), born, held_since};
}

LinkStateDatabase::Verdict LinkStateDatabase::offer(Advertisement advertisement, Milliseconds age, Milliseconds now) {
  if (age >= kMaxAge) return Verdict::kTooOld;
  const auto held = entries_.find(advertisement.origin);
  if (held == entries_.end()) {
    const std::size_t weight = weight_of(advertisement);
    if (weight_ + weight > kMaxWeight) return Verdict::kFull;
    weight_ += weight;
    const NodeId origin = advertisement.origin;
    entries_.emplace(origin, entry_of(std::move(advertisement), now - age, now));
    return Verdict::kNewer;
  }
  const std::strong_ordering order = advertisement <=> *held->second.advertisement;
  if (order == std::strong_ordering::equal) return Verdict::kDuplicate;
  if (order == std::strong_ordering::less) return Verdict::kStale;
  weight_ += weight_of(advertisement) - weight_of(*held->second.advertisement);
  held->second = entry_of(std::move(advertisement), now - age, held->second.held_since);
  return Verdict::kNewer;
}

void LinkStateDatabase::drop(NodeId origin) {
  const auto entry = entries_.find(origin);
  if (entry == entries_.end()) return;
  weight_ -= weight_of(*entry->second.advertisement);
  entries_.erase(entry);
}

std::vector<NodeId> LinkStateDatabase::expire(Milliseconds now, NodeId keep) {
  std::vector<NodeId> removed;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->first != keep && now - entry->second.born >= kMaxAge) {
      removed.push_back(entry->first);
      weight_ -= weight_of(*entry->second.advertisement);
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
  return removed;
}

std::optional<Milliseconds> LinkStateDatabase::next_expiry() const {
  std::optional<Milliseconds> next;
  for (const auto& [origin, entry] : entries_) {
    const Milliseconds at = entry.born + kMaxAge;
    next = next.has_value() ? std::min(*next, at) : at;
  }
  return next;
}

const Advertisement* LinkStateDatabase::find(NodeId origin) const {
  const auto entry = entries_.find(origin);
  return entry == entries_.end() ? nullptr : entry->second.advertisement.get();
}

Milliseconds LinkStateDatabase::age(NodeId origin, Milliseconds now) const {
  const auto entry = entries_.find(origin);
  return entry == entries_.end() ? kMaxAge : std::max(now - entry->second.born, Milliseconds(0));
}

bool operator==(const LinkStateDatabase& left, const LinkStateDatabase& right) {
  return std::equal(left.entries_.begin(), left.entries_.end(), right.entries_.begin(), right.entries_.end(),
                    [](const auto& a, const auto& b) {
                      return a.second.advertisement == b.second.advertisement ||
                             *a.second.advertisement == *b.second.advertisement;
                    });
}

}  // namespace cableway::routing
