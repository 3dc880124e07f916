// Cables that were down and come back, and what is remembered of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/pulse/pulses.h"
#include "tests/core/pulse/pulse_pair.h"

namespace cableway {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ReturningCablesTest, ACableThatWasDownComesBackDistrustedAfterAVerdict) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both(true);
  pair.run_for(1s);
  pair.lose_cable();
  pair.cut_both(false);
  pair.run_for(1s);
  for (const PulsingHost* host : {&pair.a, &pair.b}) ASSERT_THAT(host->found, SizeIs(1));
  pair.find_cable();
  const Instant back_at = pair.now;
  pair.run_for(1s);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_GE(pair.a.found[1].at - back_at, 200ms);
}

TEST(ReturningCablesTest, ATrustedCableThatComesBackIsNotJudgedBeforeItIsHeard) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.pulses.set_cables({}, pair.now);
  pair.run_for(5s);
  pair.find_cable_at(pair.a);
  pair.run_for(1s);
  EXPECT_THAT(pair.a.found, IsEmpty());
}

TEST(ReturningCablesTest, ANewIncarnationOfTheNeighbourBeginsTrusted) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both(true);
  pair.run_for(1s);
  pair.a.pulses.set_cables({pulsed_cable(1, 2, 1, 2)}, pair.now);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
}

TEST(ReturningCablesTest, ACableThatComesBackWhileItProvesItselfIsNotSilentBeforeTheNeighbourHasIt) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both_for(100ms);
  pair.run_for(100ms);
  ASSERT_THAT(pair.a.proving, SizeIs(1));
  pair.lose_cable();
  pair.run_for(100ms);
  pair.a.found.clear();
  pair.find_cable_at(pair.a);
  pair.run_for(300ms);
  pair.find_cable_at(pair.b);
  pair.run_for(1s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kAll);
  // If it never does, the cable is silent.
  pair.cut_both_for(1s);
  pair.run_for(100ms);
  ASSERT_THAT(pair.a.proving, SizeIs(2));
  pair.lose_cable();
  pair.run_for(100ms);
  pair.a.found.clear();
  pair.find_cable_at(pair.a);
  pair.run_for(1s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kNone);
}

TEST(ReturningCablesTest, ANodeThatStoodStillWhileItsCableWasDownIsNoSilentCable) {
  PulsePair pair;
  pair.run_for(3s);
  pair.stop(pair.b, 3s);
  pair.run_for(1s);
  pair.a.pulses.set_cables({}, pair.now);
  pair.run_for(3s);
  pair.find_cable_at(pair.a);
  pair.run_for(1s);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kDirect);
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
  EXPECT_THAT(pair.b.found, IsEmpty());
}

TEST(ReturningCablesTest, ASilentCableThatComesBackDoesNotTellTheOtherEndThatNothingArrives) {
  PulsePair pair;
  pair.run_for(3s);
  pair.b.cut = true;
  pair.run_for(15ms);
  pair.b.pulses.set_cables({}, pair.now);  // b stops judging, so it forms no verdict itself
  pair.run_for(100ms);
  pair.a.pulses.set_cables({}, pair.now);
  pair.b.cut = false;
  pair.run_for(1s);
  pair.b.found.clear();
  pair.find_cable();
  pair.run_for(1s);
  EXPECT_THAT(pair.b.found, IsEmpty());
  EXPECT_EQ(pair.a.found.back().verdict.trust, CableTrust::kAll);
}

TEST(ReturningCablesTest, ASilentCableThatIsGoneForLongIsForgotten) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both(true);
  pair.run_for(1s);
  pair.lose_cable();
  pair.run_for(70s);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict, (CableVerdict{CableTrust::kAll, "its earlier pulses do not count any more"}));
}

TEST(ReturningCablesTest, OtherAddressesBeginTrusted) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both(true);
  pair.run_for(1s);
  PulsedCable moved = pair.a.cable;
  moved.other_address.bytes = {10, 0, 0, 7};
  pair.a.pulses.set_cables({moved}, pair.now);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
}

TEST(ReturningCablesTest, OneThatWasForgottenIsHeardAgain) {
  PulsePair pair;
  pair.run_for(10s);
  pair.a.pulses.set_cables({}, pair.now);
  pair.run_for(61s);
  pair.a.pulses.set_cables({}, pair.now);
  pair.find_cable_at(pair.a);
  pair.b.found.clear();
  pair.run_for(1s);
  pair.a.cut = true;
  pair.run_for(100ms);
  // The neighbour judges again, so it has accepted pulses.
  EXPECT_THAT(pair.b.found, ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace cableway
