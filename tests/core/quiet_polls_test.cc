// A flow with two circuits whose ends are polled in a loop, as NCCL does:
//
//   sender ==== circuit 0, the primary ==== receiver
//          ==== circuit 1 =================
#include "core/quiet_polls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

#include "tests/core/flow/striped_flow.h"

namespace cableway {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::kKiB;
using test::kLarge;
using test::kOneBundle;
using test::LooseEnd;
using test::messages;
using test::StripedFlow;

constexpr Duration kStep = microseconds(1);
constexpr Duration kPause = QuietPolls::kPause;

TEST(QuietPolls, ABusyCircuitIsPolledEachTime) {
  QuietPolls polls;
  Instant now{hours(1)};
  for (std::uint64_t moved = 0; moved < 1000; ++moved, now = now + kStep) ASSERT_TRUE(polls.is_due(moved, kPause, now));
}

TEST(QuietPolls, AQuietCircuitIsPolledNowAndThen) {
  QuietPolls polls;
  Instant now{hours(1)};
  ASSERT_TRUE(polls.is_due(7, kPause, now));
  const Instant quiet = now + QuietPolls::kQuietAfter;
  for (; now < quiet; now = now + kStep) ASSERT_TRUE(polls.is_due(7, kPause, now));
  std::size_t count = 0;
  for (const Instant begin = now; now - begin < 100 * kPause; now = now + kStep) {
    count += polls.is_due(7, kPause, now) ? 1 : 0;
  }
  EXPECT_EQ(count, 100U);
  EXPECT_TRUE(polls.is_due(8, kPause, now)) << "once something has moved, until it is quiet again";
  EXPECT_TRUE(polls.is_due(8, kPause, now + kStep));
}

TEST(QuietPolls, ALargeMessageShortensThePause) {
  QuietPolls polls;
  Instant now{hours(1)};
  ASSERT_TRUE(polls.is_due(7, QuietPolls::kIdlePause, now));
  now = now + QuietPolls::kIdlePause;
  ASSERT_TRUE(polls.is_due(7, QuietPolls::kIdlePause, now));
  now = now + kPause;
  EXPECT_FALSE(polls.is_due(7, QuietPolls::kIdlePause, now));
  EXPECT_TRUE(polls.is_due(7, kPause, now));
}

TEST(QuietPolls, ALoopThatIsSlowerPollsEachTime) {
  QuietPolls polls;
  Instant now{hours(1)};
  for (int i = 0; i < 1000; ++i, now = now + kPause) ASSERT_TRUE(polls.is_due(7, kPause, now));
}

class PolledFlowTest : public ::testing::Test {
 protected:
  // Of one end, while both are polled in a loop.
  struct Polls {
    std::size_t primary = 0;
    std::size_t other = 0;
  };
  Polls loop(Duration time, LooseEnd test::LooseHop::*end) {
    const Polls before{(flow_.hops_[0].get()->*end).polls(), (flow_.hops_[1].get()->*end).polls()};
    for (const Instant begin = now_; now_ - begin < time; now_ = now_ + kStep) {
      EXPECT_TRUE(flow_.sender_.progress_in_loop(now_).ok());
      EXPECT_TRUE(flow_.receiver_.progress_in_loop(now_).ok());
    }
    return {(flow_.hops_[0].get()->*end).polls() - before.primary, (flow_.hops_[1].get()->*end).polls() - before.other};
  }
  // Expects, in a loop of 10 ms, all polls of the primary, and one of the other circuit in each `pause`.
  void expect_polls(LooseEnd test::LooseHop::*end, Duration pause) {
    const Duration time = milliseconds(10);
    const Polls polls = loop(time, end);
    EXPECT_EQ(polls.primary, time / kStep);
    EXPECT_NEAR(static_cast<double>(polls.other), static_cast<double>(time / pause), 1.0);
  }

  StripedFlow flow_{messages(8, kLarge), {16 * kKiB, 16 * kKiB}, {kOneBundle, kOneBundle}};
  Instant now_{hours(1)};
};

TEST_F(PolledFlowTest, BothEndsPollAQuietCircuitLessOften) {
  flow_.run_to_the_end();
  loop(QuietPolls::kQuietAfter, &test::LooseHop::source);
  expect_polls(&test::LooseHop::source, QuietPolls::kIdlePause);
  expect_polls(&test::LooseHop::destination, QuietPolls::kIdlePause);
}

TEST_F(PolledFlowTest, BothEndsPollItMoreOftenDuringALargeMessage) {
  flow_.run(3);  // and then nothing moves
  loop(QuietPolls::kQuietAfter, &test::LooseHop::source);
  expect_polls(&test::LooseHop::source, QuietPolls::kPause);
  expect_polls(&test::LooseHop::destination, QuietPolls::kPause);
}

TEST_F(PolledFlowTest, ACircuitThatEndsIsNoticedWithinTheNextPoll) {
  flow_.run_to_the_end();
  loop(QuietPolls::kQuietAfter, &test::LooseHop::source);
  flow_.hops_[1]->source.notice();
  loop(QuietPolls::kIdlePause, &test::LooseHop::source);
  EXPECT_FALSE(flow_.sender_.is_live(flow_.names_[1]));
}

TEST_F(PolledFlowTest, ThePrimaryIsTheOneThatCarriesTheFlow) {
  flow_.run_to_the_end();
  flow_.receiver_.prefer(flow_.names_[1]);
  ASSERT_TRUE(flow_.receiver_.progress().ok());
  flow_.run(2);
  loop(QuietPolls::kQuietAfter, &test::LooseHop::destination);
  const Polls polls = loop(2 * QuietPolls::kIdlePause, &test::LooseHop::destination);
  EXPECT_EQ(polls.other, 2 * QuietPolls::kIdlePause / kStep) << "of circuit 1, which is the primary now";
  EXPECT_LE(polls.primary, 3U);
}

}  // namespace
}  // namespace cableway
