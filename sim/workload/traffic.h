// How many bytes of a workload go from which rank to which: what its schedules send in sum, without building them.
#ifndef CABLEWAY_SIM_WORKLOAD_TRAFFIC_H_
#define CABLEWAY_SIM_WORKLOAD_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace cableway::workload {

struct RankTraffic {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const RankTraffic&, const RankTraffic&) = default;
};

// Sorted by `from`, then `to`; each pair once, none without bytes, none from a rank to itself. What a ring all_reduce
// sends is right to a byte where the ranks divide the size into multiples of 128 bytes, else to a few hundred bytes a
// pass. A tree has each half of the size on a tree of its own, as with an even number of channels.
// Precondition: `size` is rounded_size() of itself.
std::vector<RankTraffic> traffic_of(const Workload& workload, int ranks, std::uint64_t size);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_TRAFFIC_H_
