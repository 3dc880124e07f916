#include "core/gate/port_gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "core/gate/port_stamps.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;

constexpr Instant kNow{std::chrono::hours(30)};

class PortGateTest : public testing::Test {
 protected:
  PortStampPage page_{};
  const EgressPort port_{page_, "enp1s0f0np0"};
  PortGate gate_{port_};
};

TEST_F(PortGateTest, APortIsIdleUntilItIsUsed) {
  EXPECT_TRUE(gate_.is_open(kNow));
  port_.use(kNow, milliseconds(0));
  EXPECT_FALSE(gate_.is_open(kNow));
}

TEST_F(PortGateTest, AUseLastsForFourChunks) {
  port_.use(kNow, milliseconds(5));
  EXPECT_FALSE(gate_.is_open(kNow));
  EXPECT_FALSE(gate_.is_open(kNow + milliseconds(19) + PortGate::kQuiet));
  EXPECT_TRUE(gate_.is_open(kNow + milliseconds(20) + PortGate::kQuiet));
}

TEST_F(PortGateTest, AUseIsNeitherTooShortNorTooLong) {
  port_.use(kNow, milliseconds(0));
  EXPECT_EQ(port_.in_use_until(kNow), kNow + EgressPort::kShortestUse);
  port_.use(kNow, std::chrono::hours(1));
  EXPECT_EQ(port_.in_use_until(kNow), kNow + EgressPort::kLongestUse);
}

TEST_F(PortGateTest, AShortUseDoesNotEndALongerOne) {
  port_.use(kNow, milliseconds(40));
  port_.use(kNow + milliseconds(1), milliseconds(1));
  EXPECT_EQ(port_.in_use_until(kNow), kNow + milliseconds(160));
}

TEST_F(PortGateTest, OpensAfterAQuietTimeOnlyIfItHasBeenClosed) {
  port_.use(kNow, milliseconds(0));
  const Instant until = kNow + EgressPort::kShortestUse;
  PortGate other(port_);
  EXPECT_TRUE(other.is_open(until + milliseconds(1))) << "it has not been closed: it was not asked";
  EXPECT_FALSE(gate_.is_open(kNow));
  EXPECT_FALSE(gate_.is_open(until + milliseconds(1)));
  EXPECT_TRUE(gate_.is_open(until + PortGate::kQuiet + milliseconds(1)));
}

TEST_F(PortGateTest, ProcessesShareThePage) {
  EgressPort(page_, "enp1s0f0np0").use(kNow, milliseconds(1));
  EXPECT_FALSE(gate_.is_open(kNow));
  EXPECT_TRUE(PortGate(EgressPort(page_, "enp1s0f1np1")).is_open(kNow));
}

TEST_F(PortGateTest, NonsenseInThePageClosesForAWhileOnly) {
  for (auto& stamp : page_.until) stamp = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(port_.in_use_until(kNow), kNow + EgressPort::kLongestUse);
  EXPECT_EQ(port_.in_use_until(kNow + milliseconds(100)), kNow + EgressPort::kLongestUse) << "the same stamp";
  for (auto& stamp : page_.until) stamp = std::numeric_limits<std::int64_t>::max();
  port_.use(kNow, milliseconds(1));
  EXPECT_EQ(port_.in_use_until(kNow), kNow + EgressPort::kShortestUse);
  for (auto& stamp : page_.until) stamp = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(gate_.is_open(kNow));
  port_.use(kNow, milliseconds(1));
  EXPECT_FALSE(gate_.is_open(kNow));
}

TEST_F(PortGateTest, AnUnknownPortIsClosedAndStampsNothing) {
  PortGate gate;
  EXPECT_FALSE(gate.is_open(kNow));
  EgressPort().use(kNow, milliseconds(1));
  EXPECT_FALSE(EgressPort(page_, "").is_known());
}

}  // namespace
}  // namespace cableway
