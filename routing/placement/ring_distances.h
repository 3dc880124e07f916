// The distances between the nodes of a job, as the search for a good order of them wants them.
#ifndef CABLEWAY_ROUTING_PLACEMENT_RING_DISTANCES_H_
#define CABLEWAY_ROUTING_PLACEMENT_RING_DISTANCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cableway::routing {

// Relays above, nanoseconds below: less is better, and a sum of 24 never carries from the lower part into the upper one
// nor out of that (relays < 2^12, a latency < 2^42 for each).
using RingDistance = std::uint64_t;
inline constexpr int kRingLatencyBits = 47;
inline constexpr RingDistance kOneRelay = RingDistance{1} << kRingLatencyBits;

// By places in the job's list of nodes. Symmetric.
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
