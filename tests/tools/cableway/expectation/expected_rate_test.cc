#include "tools/cableway/expectation/expected_rate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/expectation/wired.h"

namespace cableway::cli {
namespace {

// With these rates, in the order of the cables.
routing::Topology rated(const std::vector<std::string>& cables, const std::vector<std::uint64_t>& rates) {
  const routing::Topology topology = wired(cables);
  std::vector<routing::Cable> list(topology.plugged_cables().begin(), topology.plugged_cables().end());
  for (std::size_t i = 0; i < rates.size(); ++i) list[i].rate_mbps = rates[i];
  return routing::make_topology({topology.nodes().begin(), topology.nodes().end()}, std::move(list));
}

TEST(ExpectedRate, IsThatOfTheCableWithTheseEnds) {
  const routing::Topology expected = rated({"n0 eth0 n1 eth1", "n0 eth2 n1 eth3"}, {100'000, 25'000});
  EXPECT_EQ(expected_rate_mbps(expected, "n0", {"eth0", "n1", "eth1"}), 100'000U);
  EXPECT_EQ(expected_rate_mbps(expected, "n1", {"eth3", "n0", "eth2"}), 25'000U);
}

TEST(ExpectedRate, IsNotThatOfACableThatBelongsElsewhere) {
  const routing::Topology expected = rated({"n0 eth0 n1 eth1", "n0 eth2 n1 eth3"}, {25'000, 25'000});
  EXPECT_EQ(expected_rate_mbps(expected, "n0", {"eth0", "n1", "eth3"}), 0U) << "in a wrong plug";
  EXPECT_EQ(expected_rate_mbps(expected, "n0", {"eth0", "n2", "eth1"}), 0U) << "not expected";
}

TEST(ExpectedRate, IsThatOfAllCablesBetweenTheNodesWhereInterfacesAreInvented) {
  EXPECT_EQ(expected_rate_mbps(rated({"n0 p0 n1 p1"}, {200}), "n1", {"to-n0", "n0", "to-n1"}), 200U);
  const std::vector<std::string> two{"n0 p0 n1 p1", "n0 p2 n1 p3"};
  EXPECT_EQ(expected_rate_mbps(rated(two, {200, 200}), "n0", {"eth0", "n1", "eth1"}), 200U);
  EXPECT_EQ(expected_rate_mbps(rated(two, {200, 100}), "n0", {"eth0", "n1", "eth1"}), 0U) << "which is not known";
}

TEST(ExpectedRate, IsNotStatedByATopologyWithoutRates) {
  EXPECT_EQ(expected_rate_mbps(wired({"n0 eth0 n1 eth1"}), "n0", {"eth0", "n1", "eth1"}), 0U);
}

}  // namespace
}  // namespace cableway::cli
