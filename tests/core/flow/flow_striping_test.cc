// Large messages over a bundle of circuits, each as fast as the test says:
//
//   sender ==== circuit 0 ==== receiver      circuits 0 to 2: a bundle, but where a test says otherwise
//          ==== circuit 1 ====               the first that joins is the primary
//          ==== circuit 2 ====
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "core/flow/circuit_rate.h"
#include "tests/core/flow/striped_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using test::bytes_of;
using test::kKiB;
using test::kLarge;
using test::kOneBundle;
using test::kQuarter;
using test::messages;
using test::payloads;
using test::StripedFlow;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

TEST(FlowStriping, ALargeMessageUsesEveryCircuitOfTheBundle) {
  StripedFlow flow(messages(1, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  const auto given = flow.run_to_the_end();
  EXPECT_EQ(bytes_of(given[0]), kLarge / 2);
  EXPECT_EQ(bytes_of(given[1]), kLarge / 2);
  for (const auto& chunks : given) EXPECT_THAT(payloads(chunks), Each(Le(32 * kKiB)));
}

TEST(FlowStriping, ASmallMessageGoesWholeOverThePrimary) {
  StripedFlow flow(messages(100, 16 * kKiB), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  const auto given = flow.run_to_the_end();
  EXPECT_THAT(given[0], SizeIs(100));
  EXPECT_THAT(given[1], SizeIs(0));
}

TEST(FlowStriping, AFlowOfOneCircuitSendsTheChunksThatItWouldWithoutABundle) {
  StripedFlow flow(messages(3, kLarge), {16 * kKiB}, {kOneBundle});
  EXPECT_THAT(payloads(flow.run_to_the_end()[0]), ElementsAre(kLarge, kLarge, kLarge));
}

TEST(FlowStriping, OtherCircuitsThanTheBundlesCarryNothing) {
  StripedFlow flow(messages(20, kLarge), {16 * kKiB, 16 * kKiB, 16 * kKiB, 16 * kKiB}, {kOneBundle, 0, 2, kOneBundle});
  const auto given = flow.run_to_the_end();
  EXPECT_EQ(bytes_of(given[1]) + bytes_of(given[2]), 0U);
  EXPECT_NEAR(static_cast<double>(bytes_of(given[3])), 10.0 * kLarge, 1.0 * kLarge);
}

TEST(FlowStriping, UnequalCircuitsCarryWhatTheyCan) {
  // 60 messages take 60 * 256 / 22 ms at best.
  StripedFlow flow(messages(60, kLarge), {16 * kKiB, 4 * kKiB, 2 * kKiB}, {kOneBundle, kOneBundle, kOneBundle});
  const auto given = flow.run_to_the_end();
  EXPECT_NEAR(static_cast<double>(bytes_of(given[0])) / (60 * kLarge), 16.0 / 22, 0.03);
  EXPECT_NEAR(static_cast<double>(bytes_of(given[1])) / (60 * kLarge), 4.0 / 22, 0.03);
  EXPECT_LT(flow.now_ms(), 1.07 * 60 * kLarge / (22 * kKiB));
}

// One message at a time: a slow circuit must not be given what it would still carry when the fast one has ended.
TEST(FlowStriping, ASlowCircuitDelaysNoMessage) {
  StripedFlow alone(messages(1, 8 * kLarge), {16 * kKiB}, {kOneBundle});
  alone.run_to_the_end();
  StripedFlow flow(messages(40, kLarge), {16 * kKiB, 1 * kKiB}, {kOneBundle, kOneBundle});
  flow.run_to_the_end();
  EXPECT_LT(flow.now_ms(), 1.02 * 5 * alone.now_ms());
}

// One message at a time over two long circuits: most of a chunk's time is latency, which must not count as slowness.
TEST(FlowStriping, SinglesSayNothingAboutTheRate) {
  CircuitRate rate;
  const Duration before = rate.time_for(kLarge);
  Instant now{};
  for (int i = 0; i < 100; ++i, now = now + milliseconds(20)) {
    rate.resume(now);
    rate.landed(32 * kKiB, now + milliseconds(10));
  }
  EXPECT_EQ(rate.time_for(kLarge), before);
  rate.resume(now);
  for (int i = 0; i < 1000; ++i) rate.landed(32 * kKiB, now = now + milliseconds(1));
  EXPECT_NEAR(std::chrono::duration<double>(rate.time_for(kLarge)).count(), 0.008, 0.0005);
}

// A circuit that is taken to be slow gets a chunk now and then, and none that would follow it.
TEST(FlowStriping, ASingleShowsThatARateIsTooLow) {
  CircuitRate rate;
  Instant now{};
  rate.resume(now);
  for (int i = 0; i < 1000; ++i) rate.landed(32 * kKiB, now = now + milliseconds(10));
  EXPECT_NEAR(std::chrono::duration<double>(rate.time_for(32 * kKiB)).count(), 0.010, 0.001);
  const double fast = 32 * kKiB / 0.001;
  rate.resume(now);
  rate.landed(32 * kKiB, now + milliseconds(2));
  EXPECT_NEAR(std::chrono::duration<double>(rate.time_for(32 * kKiB)).count(), 0.010, 0.001) << "it is alone";
  rate.resume(now);
  rate.landed(32 * kKiB, now + milliseconds(2), fast);
  EXPECT_NEAR(std::chrono::duration<double>(rate.time_for(32 * kKiB)).count(), 0.002, 0.0001);
  rate.resume(now);
  rate.landed(32 * kKiB, now, fast);  // as far as the clock tells
  EXPECT_NEAR(std::chrono::duration<double>(rate.time_for(32 * kKiB)).count(), 0.001, 0.0001)
      << "no faster than others";
}

TEST(FlowStriping, ACircuitThatHasBecomeSlowIsGivenLess) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(500);
  flow.set_speed(1, 2 * kKiB);
  flow.run(500);
  const auto slow = flow.run(1000);
  EXPECT_NEAR(static_cast<double>(bytes_of(slow[1])) / bytes_of(slow[0]), 1.0 / 8, 0.04);
  flow.set_speed(1, 16 * kKiB);
  flow.run(500);
  const auto again = flow.run(500);
  EXPECT_NEAR(static_cast<double>(bytes_of(again[1])) / bytes_of(again[0]), 1.0, 0.1);
}

TEST(FlowStriping, ACircuitWithoutMovementGetsNoMoreThanItsWindow) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  flow.set_speed(1, 0);
  flow.run(100);
  EXPECT_LE(flow.in_flight(1), kQuarter.window_bytes + kQuarter.chunk_bytes);
  EXPECT_GT(flow.in_flight(1), 0U);
}

TEST(FlowStriping, WhatACircuitThatEndsHasNotDeliveredGoesOverTheOthers) {
  for (const std::size_t ends : {0U, 1U, 2U}) {
    SCOPED_TRACE(ends);
    StripedFlow flow(messages(60, kLarge), {16 * kKiB, 16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle, kOneBundle});
    flow.run(100);
    flow.set_speed(ends, 0);
    flow.sender_.end_circuit(flow.names_[ends], absl::UnavailableError("it is silent"));
    flow.run_to_the_end();
    EXPECT_GT(flow.sender_.traffic().bytes_again(), 0U);
    EXPECT_TRUE(flow.script_.no_late_writes());
  }
}

TEST(FlowStriping, CountsHowLongNothingHasLandedOverACircuit) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  const FlowTraffic& traffic = flow.sender_.traffic();
  EXPECT_EQ(traffic.stalled(0), Duration{0});
  flow.set_speed(1, 0);
  flow.run(100);
  flow.set_speed(1, 16 * kKiB);
  flow.run(100);
  EXPECT_EQ(traffic.stalled(0), Duration{0});
  EXPECT_GT(traffic.stalled(1), milliseconds(95));
  EXPECT_LT(traffic.stalled(1), milliseconds(110));
  EXPECT_EQ(traffic.kept_away(1), Duration{0}) << "it is no alternate";
}

TEST(FlowStriping, ACircuitThatIsStuckEndsWhereOthersCarryData) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  flow.set_speed(1, 0);
  flow.run(900);
  flow.sender_.end_stuck();
  EXPECT_EQ(flow.sender_.live(), 2U) << "it may have moved";
  flow.run(200);
  flow.sender_.end_stuck();
  EXPECT_EQ(flow.sender_.live(), 2U) << "its reports may have waited until now";
  flow.sender_.end_stuck();
  EXPECT_FALSE(flow.sender_.is_live(flow.names_[1]));
  EXPECT_TRUE(flow.sender_.is_live(flow.names_[0]));
  EXPECT_EQ(flow.sender_.end_in(1).kind, CircuitEndKind::kStuck);
  EXPECT_THAT(std::string(flow.sender_.last_end().message()), HasSubstr("nothing has landed for 1"));
  flow.run_to_the_end();
  EXPECT_TRUE(flow.script_.no_late_writes());
}

// As if the process was stopped while the circuit lagged behind: chunks have landed, and the reports are unread.
TEST(FlowStriping, ACircuitWhoseReportsWaitIsNotStuck) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  flow.set_speed(1, 0);
  flow.run(900);
  flow.clock_.run_for(milliseconds(2000));
  test::LooseHop& late = *flow.hops_[1];
  for (int chunks = 0; chunks < 4; ++chunks) ASSERT_TRUE(late.deliver_down());
  ASSERT_TRUE(flow.receiver_.progress().ok());
  while (late.deliver_up()) {
  }
  for (int calls = 0; calls < 2; ++calls) {
    flow.sender_.end_stuck();
    EXPECT_EQ(flow.sender_.live(), 2U);
  }
}

TEST(FlowStriping, NoCircuitIsStuckWhereNothingMovesAtAll) {
  StripedFlow flow(messages(400, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  flow.set_speed(0, 0);
  flow.set_speed(1, 0);
  flow.run(5000);
  for (int calls = 0; calls < 2; ++calls) flow.sender_.end_stuck();
  EXPECT_EQ(flow.sender_.live(), 2U) << "the other end may stand still";
}

TEST(FlowStriping, ASlowCircuitIsNotStuck) {
  StripedFlow flow(messages(1000, kLarge), {32 * kKiB, 32 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(200);
  flow.set_speed(1, kKiB / 16);  // half a second for a chunk, and many are on their way
  for (int i = 0; i < 20; ++i) {
    flow.run(250);
    flow.sender_.end_stuck();
  }
  EXPECT_EQ(flow.sender_.live(), 2U);
}

TEST(FlowStriping, ACircuitThatJoinsMeanwhileIsUsed) {
  StripedFlow flow(messages(200, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle});
  flow.run(100);
  flow.join(kOneBundle);
  flow.run(600);  // in which the first delivers what it was given alone
  const auto given = flow.run(500);
  EXPECT_NEAR(static_cast<double>(bytes_of(given[1])) / bytes_of(given[0]), 1.0, 0.1);
}

// As where its node offers other paths: the circuits of the new offer join, then one of them becomes the primary.
TEST(FlowStriping, TheBundleFollowsThePrimary) {
  StripedFlow flow(messages(200, kLarge), {16 * kKiB, 16 * kKiB, 16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle});
  flow.run(100);
  flow.join(2);
  const CircuitName better = flow.join(2);
  const auto before = flow.run(100);
  EXPECT_EQ(bytes_of(before[2]) + bytes_of(before[3]), 0U);
  flow.receiver_.prefer(better);
  flow.run(100);
  EXPECT_EQ(flow.sender_.carrier(), better) << "whichever of the bundle had the newest chunk";
  EXPECT_EQ(flow.receiver_.carrier(), better);
  const auto after = flow.run(100);
  EXPECT_EQ(bytes_of(after[0]) + bytes_of(after[1]), 0U);
  EXPECT_NEAR(static_cast<double>(bytes_of(after[2])) / bytes_of(after[3]), 1.0, 0.1);
}

}  // namespace
}  // namespace cableway
