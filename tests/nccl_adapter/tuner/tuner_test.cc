// What the tuner does to NCCL's table of costs.
#include "nccl_adapter/tuner/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "nccl_adapter/algorithm/algorithm_choice.h"

namespace cableway::nccl::tuner {
namespace {

using Pair = std::pair<int, int>;
using Costs = std::array<float, static_cast<std::size_t>(abi::kAlgorithms* abi::kProtocols)>;

constexpr std::uint64_t kMiB = 1U << 20;
constexpr Communicator kRingOf4{TunerSetting::kRing, 4, 4};

// In which a tree is the cheapest, and LL its cheapest protocol.
Costs some_costs() {
  Costs costs;
  costs.fill(abi::kCostNotAvailable);
  costs[0] = 20, costs[1] = 30, costs[2] = 40;  // tree
  costs[3] = 70, costs[4] = 60, costs[5] = 50;  // ring
  return costs;
}

// The pair that NCCL takes: of the least cost that is available, the first.
Pair taken(const Costs& costs) {
  float least = std::numeric_limits<float>::max();
  Pair pair{-1, -1};
  for (int i = 0; i < static_cast<int>(costs.size()); ++i) {
    const float cost = costs[static_cast<std::size_t>(i)];
    if (!(cost >= 0 && cost < least)) continue;
    least = cost;
    pair = {i / abi::kProtocols, i % abi::kProtocols};
  }
  return pair;
}

Costs weighed(const Communicator& communicator, std::uint64_t bytes, Costs costs,
              abi::Function function = abi::kFunctionAllReduce) {
  weigh(communicator, function, bytes, costs.data(), abi::kAlgorithms, abi::kProtocols);
  return costs;
}

TEST(Tuner, MakesNcclTakeTheChosenAlgorithmAndItsOwnProtocol) {
  EXPECT_EQ(taken(some_costs()), Pair(abi::kAlgorithmTree, 0));
  const Costs costs = weighed(kRingOf4, 64 * kMiB, some_costs());
  EXPECT_EQ(taken(costs), Pair(abi::kAlgorithmRing, 2));
  // The chosen one's costs stay NCCL's, which also reports them.
  EXPECT_TRUE(std::equal(costs.begin() + 3, costs.begin() + 6, some_costs().begin() + 3));
  Costs ring_is_cheap = some_costs();
  ring_is_cheap[4] = 1;
  EXPECT_EQ(taken(weighed({TunerSetting::kLine, 4, 4}, 8, ring_is_cheap)), Pair(abi::kAlgorithmTree, 0));
}

TEST(Tuner, NeverMakesAPairAvailable) {
  Costs costs = some_costs();
  costs[0] = costs[1] = abi::kCostNotAvailable;
  costs[3] = abi::kCostNotAvailable;
  const Costs after = weighed(kRingOf4, kMiB, costs);
  for (std::size_t i = 0; i < costs.size(); ++i) EXPECT_EQ(after[i] < 0, costs[i] < 0) << i;
}

TEST(Tuner, KeepsTheTableWhereTheChosenOneIsNotAvailable) {
  Costs tree_only = some_costs();
  std::fill(tree_only.begin() + 3, tree_only.begin() + 6, abi::kCostNotAvailable);
  EXPECT_EQ(weighed(kRingOf4, 64 * kMiB, tree_only), tree_only);
  Costs none;
  none.fill(abi::kCostNotAvailable);
  EXPECT_EQ(weighed(kRingOf4, 64 * kMiB, none), none);
}

TEST(Tuner, KeepsTheTableOfOtherOperationsAndJobs) {
  for (int function = -1; function < 12; ++function) {
    if (function == abi::kFunctionAllReduce) continue;
    EXPECT_EQ(weighed(kRingOf4, kMiB, some_costs(), static_cast<abi::Function>(function)), some_costs()) << function;
  }
  for (const Communicator& other : {Communicator{TunerSetting::kOff, 4, 4}, Communicator{TunerSetting::kRing, 8, 4},
                                    Communicator{TunerSetting::kRing, 2, 2}, Communicator{}}) {
    EXPECT_EQ(weighed(other, kMiB, some_costs()), some_costs());
  }
}

TEST(Tuner, OtherAlgorithmsKeepTheirCosts) {
  Costs costs = some_costs();
  costs[static_cast<std::size_t>(abi::kAlgorithmNvls * abi::kProtocols + abi::kProtocolSimple)] = 5;
  EXPECT_EQ(taken(weighed(kRingOf4, kMiB, costs)), Pair(abi::kAlgorithmNvls, 2));
}

TEST(Tuner, TakesAnyArguments) {
  Costs costs = some_costs();
  weigh(kRingOf4, abi::kFunctionAllReduce, kMiB, nullptr, abi::kAlgorithms, abi::kProtocols);
  constexpr int kMost = std::numeric_limits<int>::max();
  constexpr int kLeast = std::numeric_limits<int>::min();
  for (const auto& [algorithms, protocols] : std::vector<std::pair<int, int>>{
           {0, 3}, {1, 3}, {7, 0}, {7, -1}, {-1, 3}, {kLeast, kLeast}, {1, kMost}, {kLeast, kMost}, {kMost, kLeast}}) {
    weigh(kRingOf4, abi::kFunctionAllReduce, kMiB, costs.data(), algorithms, protocols);
    EXPECT_EQ(costs, some_costs()) << algorithms << " " << protocols;
  }
  // More algorithms than this version knows: their rows are not looked at.
  weigh(kRingOf4, abi::kFunctionAllReduce, kMiB / 4, costs.data(), kMost, abi::kProtocols);
  EXPECT_EQ(taken(costs).first, abi::kAlgorithmRing);
  // Without a communicator, everything is NCCL's.
  EXPECT_EQ(init(7, 4, 4, nullptr, nullptr), abi::kSuccess);
  EXPECT_EQ(get_coll_info(nullptr, abi::kFunctionAllReduce, kMiB, nullptr, 0, 0), abi::kSuccess);
  EXPECT_EQ(finalize(nullptr), abi::kSuccess);
}

TEST(Tuner, CostsThatAreNotNumbersAreNotAvailable) {
  Costs costs = some_costs();
  for (std::size_t i = 3; i < 6; ++i) costs[i] = std::numeric_limits<float>::quiet_NaN();
  const Costs after = weighed(kRingOf4, 64 * kMiB, costs);
  EXPECT_EQ(taken(after), Pair(abi::kAlgorithmTree, 0));
}

// That ranks choose alike follows from what the choice is given; which communicators get one is tested with the tables
// (plugin/plugin_tables_test.cc), and what ranks compare in algorithm/tuner_cabling_test.cc.
TEST(Tuner, LeavesAPairToTakeWhateverTheCosts) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t nodes = random() % 10;
    const std::uint64_t ranks = random() % 8 == 0 ? nodes * 2 : nodes;
    const std::uint64_t bytes = random() >> (random() % 64);
    const auto cabling = static_cast<TunerSetting>(random() % 5);
    Costs costs;
    for (float& cost : costs) {
      cost = random() % 3 == 0 ? abi::kCostNotAvailable : static_cast<float>(random() % 100'000) / 7;
    }
    const Costs first = weighed({cabling, ranks, nodes}, bytes, costs);
    ASSERT_EQ(taken(first) == Pair(-1, -1), taken(costs) == Pair(-1, -1)) << "nothing is left to take";
    const AllReduceChoice choice = choose_all_reduce(cabling, ranks, nodes, bytes);
    if (choice == AllReduceChoice::kNone) {
      ASSERT_EQ(first, costs);
    } else {
      // The other one of ring and tree is never taken while the chosen one is available.
      const int chosen = choice == AllReduceChoice::kTree ? abi::kAlgorithmTree : abi::kAlgorithmRing;
      const int other = choice == AllReduceChoice::kTree ? abi::kAlgorithmRing : abi::kAlgorithmTree;
      const auto row = costs.begin() + static_cast<std::ptrdiff_t>(chosen) * abi::kProtocols;
      const bool is_available = std::any_of(row, row + abi::kProtocols, [](float cost) { return cost >= 0; });
      ASSERT_TRUE(!is_available || taken(first).first != other);
    }
  }
}

}  // namespace
}  // namespace cableway::nccl::tuner
