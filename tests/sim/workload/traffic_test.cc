#include "sim/workload/traffic.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/workload/schedule.h"

namespace cableway::workload {
namespace {

using testing::ElementsAre;

using Sums = std::map<std::pair<int, int>, std::uint64_t>;

Sums sums_of_schedules(const Workload& workload, int ranks, std::uint64_t size) {
  Sums sums;
  for (int rank = 0; rank < ranks; ++rank) {
    const Schedule schedule =
        build_schedule({.workload = workload, .rank = rank, .ranks = ranks, .size = size, .channels = 2});
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::kSend && step.bytes > 0) sums[{rank, step.peer}] += step.bytes;
    }
  }
  return sums;
}

Sums sums_of(const std::vector<RankTraffic>& list) {
  Sums sums;
  for (const RankTraffic& traffic : list) sums[{traffic.from, traffic.to}] += traffic.bytes;
  return sums;
}

TEST(TrafficTest, EqualsWhatTheSchedulesSend) {
  for (const int ranks : {2, 3, 4, 7, 8}) {
    // Divisible by all divisors, so that the result is exact.
    const std::uint64_t size = 3ULL * 5 * 7 * 8 * 2 * 16384;
    for (const Workload& workload :
         {Workload{Operation::kAllReduceRing}, Workload{Operation::kAllReduceTree}, Workload{Operation::kAllGather},
          Workload{Operation::kReduceScatter}, Workload{Operation::kBroadcast}, Workload{Operation::kReduce},
          Workload{Operation::kAllToAll}, Workload{Operation::kOpposite}, Workload{Operation::kNeighbour},
          Workload{Operation::kPair, ranks - 1, 0}, Workload{Operation::kPingPong, 0, 1},
          Workload{.operation = Operation::kPipeline, .micro_batches = 4}}) {
      SCOPED_TRACE(absl::StrCat(operation_name(workload), " ", variant_name(workload), " ranks ", ranks));
      const std::vector<RankTraffic> traffic = traffic_of(workload, ranks, size);
      EXPECT_EQ(sums_of(traffic), sums_of_schedules(workload, ranks, size));
      EXPECT_EQ(sums_of(traffic).size(), traffic.size());
    }
  }
}

TEST(TrafficTest, IsSortedAndOmitsEmptyPairs) {
  EXPECT_THAT(traffic_of({Operation::kReduce}, 3, 4), ElementsAre(RankTraffic{1, 2, 4}, RankTraffic{2, 0, 4}));
  EXPECT_THAT(traffic_of({Operation::kPair, 2, 1}, 3, 4), ElementsAre(RankTraffic{2, 1, 4}));
  EXPECT_THAT(traffic_of({Operation::kAllGather}, 2, 0), ElementsAre());
}

}  // namespace
}  // namespace cableway::workload
