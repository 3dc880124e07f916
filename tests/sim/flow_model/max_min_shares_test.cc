#include "sim/flow_model/max_min_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::sim {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

using Paths = std::vector<std::vector<ResourceIndex>>;

FlowPaths flow_paths(const Paths& paths) {
  FlowPaths all;
  for (const std::vector<ResourceIndex>& path : paths) all.add(path);
  return all;
}

std::vector<double> shares_of(const Paths& paths, const std::vector<double>& capacity) {
  MaxMinShares shares;
  shares.compute(flow_paths(paths), capacity);
  return {shares.rates().begin(), shares.rates().end()};
}

// The definition, step by step: all flows that are not frozen grow by the least amount that fills a resource.
std::vector<double> naive_shares(const Paths& paths, const std::vector<double>& capacity) {
  std::vector<double> rates(paths.size(), 0);
  std::vector<bool> grows(paths.size(), true);
  for (std::size_t flow = 0; flow < paths.size(); ++flow) {
    if (paths[flow].empty()) {
      rates[flow] = std::numeric_limits<double>::infinity();
      grows[flow] = false;
    }
  }
  const auto uses = [&](std::size_t flow, std::size_t resource) {
    return std::find(paths[flow].begin(), paths[flow].end(), resource) != paths[flow].end();
  };
  while (std::find(grows.begin(), grows.end(), true) != grows.end()) {
    double step = std::numeric_limits<double>::infinity();
    std::size_t full = 0;
    for (std::size_t resource = 0; resource < capacity.size(); ++resource) {
      double used = 0;
      double growing = 0;
      for (std::size_t flow = 0; flow < paths.size(); ++flow) {
        if (!uses(flow, resource)) continue;
        used += rates[flow];
        growing += grows[flow] ? 1 : 0;
      }
      if (growing == 0 || (capacity[resource] - used) / growing >= step) continue;
      step = (capacity[resource] - used) / growing;
      full = resource;
    }
    for (std::size_t flow = 0; flow < paths.size(); ++flow) rates[flow] += grows[flow] ? step : 0;
    for (std::size_t flow = 0; flow < paths.size(); ++flow) {
      if (uses(flow, full)) grows[flow] = false;
    }
  }
  return rates;
}

TEST(MaxMinSharesTest, OneFlowGetsItsNarrowestResource) {
  EXPECT_THAT(shares_of({{0, 1, 2}}, {5, 3, 4}), ElementsAre(3));
}

// Bertsekas and Gallager's example: flows elsewhere get the capacity that flows through the congested resource leave.
TEST(MaxMinSharesTest, UnusableCapacityGoesToOtherFlows) {
  EXPECT_THAT(shares_of({{0}, {0}, {0, 1}, {1}}, {1, 1}),
              ElementsAre(DoubleEq(1. / 3), DoubleEq(1. / 3), DoubleEq(1. / 3), DoubleEq(2. / 3)));
}

TEST(MaxMinSharesTest, AFlowWithoutResourcesIsUnlimited) {
  MaxMinShares shares;
  shares.compute(flow_paths({{}, {0}}), std::vector<double>{2});
  EXPECT_THAT(shares.rates(), ElementsAre(std::numeric_limits<double>::infinity(), 2));
  EXPECT_THAT(shares.bottlenecks(), ElementsAre(kNoBottleneck, 0));
}

TEST(MaxMinSharesTest, HandlesNoFlows) {
  EXPECT_THAT(shares_of({}, {1, 2}), ElementsAre());
  EXPECT_THAT(shares_of({{0}}, {0}), ElementsAre(0));
}

TEST(MaxMinSharesTest, OnlyActiveFlowsCount) {
  MaxMinShares shares;
  const FlowPaths paths = flow_paths({{0}, {0}, {0, 1}});
  const std::vector<double> capacity = {6, 1};
  shares.compute(paths, capacity);
  EXPECT_THAT(shares.rates(), ElementsAre(2.5, 2.5, 1));
  shares.compute(paths, capacity, std::vector<FlowIndex>{1});
  EXPECT_EQ(shares.rates()[1], 6);
  shares.compute(paths, capacity, std::vector<FlowIndex>{0, 2});
  EXPECT_EQ(shares.rates()[0], 5);
  EXPECT_EQ(shares.rates()[2], 1);
}

TEST(MaxMinSharesTest, BottlenecksAreFullAndTheirFlowsHaveTheHighestRate) {
  MaxMinShares shares;
  const Paths paths = {{0}, {0, 1}, {1, 2}, {2}, {2}};
  const std::vector<double> capacity = {10, 6, 3};
  shares.compute(flow_paths(paths), capacity);
  EXPECT_THAT(shares.rates(), ElementsAre(5, 5, 1, 1, 1));
  EXPECT_THAT(shares.bottlenecks(), ElementsAre(0, testing::AnyOf(0, 1), 2, 2, 2));
}

TEST(MaxMinSharesTest, AgreesWithTheDefinitionOnRandomNetworks) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::size_t resources = 1 + random() % 12;
    const std::size_t flows = random() % 30;
    std::vector<double> capacity;
    capacity.reserve(resources);
    // Few different values, so that resources fill up together.
    for (std::size_t i = 0; i < resources; ++i) capacity.push_back(1 + random() % 5);
    Paths paths(flows);
    for (std::vector<ResourceIndex>& path : paths) {
      for (ResourceIndex resource = 0; resource < resources; ++resource) {
        if (random() % 3 == 0) path.push_back(resource);
      }
    }
    const auto nearly = [](double expected) {
      return std::isinf(expected) ? testing::Matcher<double>(expected)
                                  : testing::Matcher<double>(testing::DoubleNear(expected, 1e-9));
    };
    std::vector<testing::Matcher<double>> expected;
    for (const double rate : naive_shares(paths, capacity)) expected.push_back(nearly(rate));
    ASSERT_THAT(shares_of(paths, capacity), testing::ElementsAreArray(expected)) << "round " << round;
  }
}

TEST(MaxMinSharesTest, KeepsItsMemoryButNoResults) {
  MaxMinShares shares;
  shares.compute(flow_paths({{0}, {0}, {1}}), std::vector<double>{2, 5});
  shares.compute(flow_paths({{0}}), std::vector<double>{7});
  EXPECT_THAT(shares.rates(), ElementsAre(7));
}

}  // namespace
}  // namespace cableway::sim
