// Pairwise distances between a job's nodes, for the search for a good order.
#ifndef CABLEWAY_ROUTING_PLACEMENT_RING_DISTANCES_H_
#define CABLEWAY_ROUTING_PLACEMENT_RING_DISTANCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cableway::routing {

// Relays in the high bits, nanoseconds in the low bits; less is better. A sum of 24 distances never carries between the
// parts nor overflows (relays < 2^12, latency < 2^42 for each).
using RingDistance = std::uint64_t;
inline constexpr int kRingLatencyBits = 47;
inline constexpr RingDistance kOneRelay = RingDistance{1} << kRingLatencyBits;

// Indexed by position in the job's list of nodes. Symmetric.
class RingDistances {
 public:
  explicit RingDistances(std::size_t count) : count_(count), distance_(count * count, 0) {}

  std::size_t count() const { return count_; }
  RingDistance operator()(std::size_t from, std::size_t to) const { return distance_[from * count_ + to]; }
  RingDistance& operator()(std::size_t from, std::size_t to) { return distance_[from * count_ + to]; }

 private:
  std::size_t count_;
  std::vector<RingDistance> distance_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PLACEMENT_RING_DISTANCES_H_
