// The bytes that a workload's schedules send from each rank to each other, computed without building the schedules.
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

// Sorted by `from`, then `to`; each pair once, none without bytes, none from a rank to itself. For a ring all_reduce
// exact if the ranks divide the size into multiples of 128 bytes, else within a few hundred bytes per pass. Each tree
// carries half of the size, as with an even number of channels. Precondition: `size` is rounded_size() of itself.
std::vector<RankTraffic> traffic_of(const Workload& workload, int ranks, std::uint64_t size);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_TRAFFIC_H_
