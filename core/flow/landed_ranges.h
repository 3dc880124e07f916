// The byte ranges of a message that have landed, in any order of its chunks: a prefix, and islands beyond the prefix.
//
// Islands come from a pool that a flow's messages share, which bounds the flow's memory. Allocates nothing after the
// pool's construction. One thread at a time.
#ifndef CABLEWAY_CORE_FLOW_LANDED_RANGES_H_
#define CABLEWAY_CORE_FLOW_LANDED_RANGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cableway {

// The islands of all messages of a flow.
class IslandPool {
 public:
  // One more than a flow's maximum of chunks in flight: each can make at most one island.
  static constexpr std::uint16_t kMaxIslands = 129;

  IslandPool();

 private:
  friend class LandedRanges;
  static constexpr std::uint16_t kNone = 0xFFFF;
  struct Island {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint16_t next = kNone;  // next island of the same message, or next entry of the free list
  };

  std::uint16_t take();
  void give_back(std::uint16_t island);

  std::array<Island, kMaxIslands> islands_;
  std::uint16_t free_ = 0;
};

class LandedRanges {
 public:
  enum class Added : std::uint8_t {
    kNew,
    kOverlaps,  // part of the range has landed before; nothing was added
    kNoRoom,    // the pool has no island left; nothing was added
  };

  // Bytes [begin, end) have landed. A range without bytes never overlaps.
  Added add(std::uint64_t begin, std::uint64_t end, IslandPool& pool);
  // All bytes below this have landed.
  std::uint64_t prefix() const { return prefix_; }
  bool has_islands() const { return first_ != IslandPool::kNone; }
  // Resets to no bytes landed.
  void clear(IslandPool& pool);

 private:
  void grow_prefix(std::uint64_t end, IslandPool& pool);

  std::uint64_t prefix_ = 0;
  std::uint16_t first_ = IslandPool::kNone;  // ascending; no island touches the next one or the prefix
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_LANDED_RANGES_H_
