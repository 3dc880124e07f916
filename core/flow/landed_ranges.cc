#include "core/flow/landed_ranges.h"

#include <algorithm>

namespace cableway {

IslandPool::IslandPool() {
  for (std::uint16_t i = 0; i + 1 < kMaxIslands; ++i) islands_[i].next = static_cast<std::uint16_t>(i + 1);
}

std::uint16_t IslandPool::take() {
  const std::uint16_t taken = free_;
  if (taken != kNone) free_ = islands_[taken].next;
  return taken;
}

void IslandPool::give_back(std::uint16_t island) {
  islands_[island].next = free_;
  free_ = island;
}

LandedRanges::Added LandedRanges::add(std::uint64_t begin, std::uint64_t end, IslandPool& pool) {
  if (begin == end) return Added::kNew;
  if (begin < prefix_) return Added::kOverlaps;
  if (first_ == IslandPool::kNone && begin == prefix_) {
    prefix_ = end;
    return Added::kNew;
  }
  // `before` ends at or below `begin`; `after` is the island that follows it.
  std::uint16_t before = IslandPool::kNone;
  std::uint16_t after = first_;
  while (after != IslandPool::kNone && pool.islands_[after].end <= begin) {
    before = after;
    after = pool.islands_[after].next;
  }
  if (after != IslandPool::kNone && pool.islands_[after].begin < end) return Added::kOverlaps;
  if (begin == prefix_) {
    grow_prefix(end, pool);
    return Added::kNew;
  }
  const bool touches_before = before != IslandPool::kNone && pool.islands_[before].end == begin;
  const bool touches_after = after != IslandPool::kNone && pool.islands_[after].begin == end;
  if (touches_before && touches_after) {
    pool.islands_[before].end = pool.islands_[after].end;
    pool.islands_[before].next = pool.islands_[after].next;
    pool.give_back(after);
  } else if (touches_before) {
    pool.islands_[before].end = end;
  } else if (touches_after) {
    pool.islands_[after].begin = begin;
  } else {
    const std::uint16_t island = pool.take();
    if (island == IslandPool::kNone) return Added::kNoRoom;
    pool.islands_[island] = {begin, end, after};
    (before == IslandPool::kNone ? first_ : pool.islands_[before].next) = island;
  }
  return Added::kNew;
}

// Merges the first island into the prefix if the prefix reaches it.
void LandedRanges::grow_prefix(std::uint64_t end, IslandPool& pool) {
  prefix_ = end;
  if (first_ == IslandPool::kNone || pool.islands_[first_].begin != end) return;
  const std::uint16_t reached = first_;
  prefix_ = pool.islands_[reached].end;
  first_ = pool.islands_[reached].next;
  pool.give_back(reached);
}

void LandedRanges::clear(IslandPool& pool) {
  while (first_ != IslandPool::kNone) {
    const std::uint16_t next = pool.islands_[first_].next;
    pool.give_back(first_);
    first_ = next;
  }
  prefix_ = 0;
}

}  // namespace cableway
