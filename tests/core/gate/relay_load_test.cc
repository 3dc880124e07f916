#include "core/gate/relay_load.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/gate/port_gate.h"

namespace cableway {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Instant kLoadBegin{std::chrono::hours(30)};

class RelayLoadTest : public testing::Test {
 protected:
  RelayLoadTest() { load_.measure(now_, spent_); }
  void pass(milliseconds wall, milliseconds spent) {
    now_ = now_ + wall;
    spent_ += spent;
    ASSERT_TRUE(load_.is_due(now_));
    load_.measure(now_, spent_);
  }
  bool is_busy() const { return load_.busy_until() > now_; }

  RelayLoad load_;
  Instant now_ = kLoadBegin;
  Duration spent_ = std::chrono::hours(2);  // before it was measured
};

TEST_F(RelayLoadTest, TheFirstMeasurementTellsNothing) {
  EXPECT_FALSE(is_busy());
  EXPECT_FALSE(load_.is_due(now_));
}

TEST_F(RelayLoadTest, ItIsBusyAboveTheHalf) {
  pass(milliseconds(20), milliseconds(10));
  EXPECT_FALSE(is_busy());
  pass(milliseconds(20), milliseconds(11));
  EXPECT_TRUE(is_busy());
  pass(milliseconds(20), milliseconds(1));
  EXPECT_TRUE(is_busy()) << "for two windows";
  pass(milliseconds(20), milliseconds(1));
  EXPECT_FALSE(is_busy());
}

TEST_F(RelayLoadTest, ASleepIsNoLoad) {
  pass(milliseconds(2000), milliseconds(20));
  EXPECT_FALSE(is_busy());
}

TEST_F(RelayLoadTest, ALookForWorkIsNoLoadButAWaitForAProcessorIs) {
  for (int look = 0; look < 4000; ++look) load_.looked_in_vain(microseconds(4), microseconds(1));
  pass(milliseconds(20), milliseconds(20));
  EXPECT_FALSE(is_busy());
  for (int look = 0; look < 5; ++look) load_.looked_in_vain(microseconds(4), milliseconds(4));
  pass(milliseconds(20), milliseconds(20));
  EXPECT_TRUE(is_busy());
}

TEST_F(RelayLoadTest, AGateIsClosedMeanwhile) {
  PortStampPage page{};
  PortGate gate(EgressPort(page, "eth1"));
  EXPECT_TRUE(gate.is_open(now_, load_.busy_until()));
  pass(milliseconds(20), milliseconds(20));
  EXPECT_FALSE(gate.is_open(now_, load_.busy_until()));
  pass(milliseconds(60), milliseconds(0));
  EXPECT_TRUE(gate.is_open(now_, load_.busy_until()));
}

}  // namespace
}  // namespace cableway
