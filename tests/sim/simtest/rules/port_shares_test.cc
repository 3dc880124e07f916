#include "sim/simtest/rules/port_shares.h"

#include <gtest/gtest.h>

#include "sim/virtual_clock.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kWindow = 32'000;
constexpr std::uint64_t kOwn = 1'000'000;

class PortSharesTest : public ::testing::Test {
 protected:
  // A flow's own path puts bytes there, as its source or a relay stamps them.
  void own_path_puts(std::uint64_t bytes) {
    EgressPort(page_, port_.second).use(clock_.now(), milliseconds(1));
    shares_.relay_puts(port_, 0, true, bytes);
  }
  bool holds() {
    RuleBook rules(clock_);
    shares_.check(rules);
    return rules.all_hold();
  }

  VirtualClock clock_;
  PortStampPage page_{};
  const PortShares::Place port_{3, "eth0"};
  PortShares shares_{clock_, [this](std::size_t) -> PortStampPage& { return page_; }, kWindow};
};

TEST_F(PortSharesTest, AnIdlePortIsForAlternates) {
  own_path_puts(kOwn);
  clock_.run_for(milliseconds(20));
  shares_.source_puts(port_, false, kOwn);
  shares_.relay_puts(port_, 1, false, kOwn);
  EXPECT_TRUE(holds());
  EXPECT_EQ(shares_.judged().ports, 1U);
  EXPECT_EQ(shares_.judged().bytes, kOwn);
  EXPECT_EQ(shares_.judged().alternates, 0U);
}

TEST_F(PortSharesTest, ASourceGivesNothingToAPortInUse) {
  own_path_puts(kOwn);
  shares_.source_puts(port_, false, kOwn / 51);
  EXPECT_TRUE(holds());  // less than two in a hundred
  shares_.source_puts(port_, false, kOwn / 51);
  EXPECT_FALSE(holds());
}

TEST_F(PortSharesTest, ARelayPassesOnWhatWasOnItsWayOnceInEachTimeOfUse) {
  own_path_puts(kOwn);
  shares_.relay_puts(port_, 1, false, kWindow);
  shares_.relay_puts(port_, 2, false, kWindow);
  EXPECT_TRUE(holds());
  EXPECT_EQ(shares_.judged().alternates, 2 * kWindow);
  // It goes on, and the circuits of a gate that stays closed send more.
  clock_.run_for(milliseconds(10));
  own_path_puts(1);
  shares_.relay_puts(port_, 1, false, kWindow);
  EXPECT_FALSE(holds());
}

TEST_F(PortSharesTest, AfterAPauseAGateMayHaveBeenOpen) {
  own_path_puts(kOwn);
  shares_.relay_puts(port_, 1, false, kWindow);
  clock_.run_for(milliseconds(20));
  own_path_puts(1);
  shares_.relay_puts(port_, 1, false, kWindow);
  EXPECT_TRUE(holds());
}

TEST_F(PortSharesTest, LittleIsNotJudged) {
  own_path_puts(1000);
  shares_.source_puts(port_, false, PortShares::kLeastJudged - 1001);
  EXPECT_TRUE(holds());
  shares_.source_puts(port_, false, 1);
  EXPECT_FALSE(holds());
}

TEST_F(PortSharesTest, APortWithoutAlternatesIsNotCounted) {
  own_path_puts(kOwn);
  EXPECT_EQ(shares_.judged().ports, 0U);
}

}  // namespace
}  // namespace cableway::sim
