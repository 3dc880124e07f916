#include "routing/topology/pcie_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;

// Of 1, 2, 4, 8 and 16 lanes.
std::vector<std::uint64_t> rates(double gigatransfers) {
  std::vector<std::uint64_t> rates;
  for (const std::uint32_t lanes : {1U, 2U, 4U, 8U, 16U}) rates.push_back(pcie_rate_mbps(gigatransfers, lanes));
  return rates;
}

TEST(PcieRate, OfAllGenerations) {
  EXPECT_THAT(rates(2.5), ElementsAre(1'500, 3'100, 6'200, 12'400, 24'900));
  EXPECT_THAT(rates(5), ElementsAre(3'100, 6'200, 12'400, 24'900, 49'900));
  EXPECT_THAT(rates(8), ElementsAre(6'100, 12'200, 24'500, 49'100, 98'300));
  EXPECT_THAT(rates(16), ElementsAre(12'200, 24'500, 49'100, 98'300, 196'600));
  EXPECT_THAT(rates(32), ElementsAre(24'500, 49'100, 98'300, 196'600, 393'200));
  EXPECT_THAT(rates(64), ElementsAre(46'000, 92'000, 184'000, 368'100, 736'300));
}

TEST(PcieRate, OfASparksLinkIsUsableInConstants) {
  static_assert(pcie_rate_mbps(32, 4) == 98'300);
}

TEST(PcieRate, IsZeroWithoutLanesOrSpeed) {
  EXPECT_EQ(pcie_rate_mbps(0, 4), 0U);
  EXPECT_EQ(pcie_rate_mbps(32, 0), 0U);
}

}  // namespace
}  // namespace cableway::routing
