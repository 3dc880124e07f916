#include "tools/cableway/doctor/wire_expectation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "routing/topology/pcie_rate.h"
#include "tests/tools/cableway/doctor/split_plugs.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using routing::Topology;

std::uint64_t expected(const SplitPlugs& hosts) {
  return expected_wire_mbps(hosts.topology(), {CableIndex{0}, CableIndex{1}});
}

// 2 x 98.3 Gbit/s are calculated, 2 x 109 were measured: the plug's 200 can be expected.
TEST(WireExpectation, IsThePlugsRateWhereItsRootsCanCarryIt) {
  EXPECT_EQ(routing::pcie_rate_mbps(32, 4), 98'300U);
  EXPECT_EQ(expected({}), 200'000U);
}

TEST(WireExpectation, IsTheSlowerPlugs) {
  SplitPlugs hosts;
  hosts.plug_mbps[1] = 100'000;
  EXPECT_EQ(expected(hosts), 100'000U);
}

TEST(WireExpectation, IsTheCalculatedRateOfTheRootsIfThatIsLess) {
  SplitPlugs hosts;
  hosts.root_mbps[0] = {98'300, 49'100};  // one of them runs with two lanes
  EXPECT_EQ(expected(hosts), 147'400U);
  hosts.root_mbps[1] = {49'100, 49'100};
  EXPECT_EQ(expected(hosts), 98'200U);
}

TEST(WireExpectation, CountsARootOnce) {
  SplitPlugs hosts;
  hosts.one_root[1] = true;
  EXPECT_EQ(expected(hosts), 98'300U);
}

TEST(WireExpectation, ACableWithoutARootCountsWithItsRate) {
  SplitPlugs hosts;
  hosts.root_mbps = {};
  hosts.cable_mbps = 60'000;
  EXPECT_EQ(expected(hosts), 120'000U);
  hosts.cable_mbps = 200'000;
  EXPECT_EQ(expected(hosts), 200'000U);
}

TEST(WireExpectation, WithoutRatesOfPlugsItIsThatOfItsCables) {
  SplitPlugs hosts;
  hosts.plug_mbps = {};
  hosts.root_mbps = {};
  hosts.cable_mbps = 60'000;
  EXPECT_EQ(expected(hosts), 120'000U);
}

}  // namespace
}  // namespace cableway::cli
