// Calls on a real clock. Calls for past times are made at once, so only few cases wait.
#include "core/linux/os/asio_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace cableway::host {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class AsioClockTest : public testing::Test {
 protected:
  // Requests a call that records `number`.
  void call(Instant when, int number) {
    timers_.push_back(clock_->call_at(when, [this, number] { called_.push_back(number); }));
  }

  boost::asio::io_context io_;
  std::unique_ptr<AsioClock> clock_ = std::make_unique<AsioClock>(io_);
  std::vector<std::unique_ptr<Timer>> timers_;
  std::vector<int> called_;
};

TEST_F(AsioClockTest, NeverGoesBackwards) {
  const Instant begin = clock_->now();
  EXPECT_GE(begin.since_start.count(), 0);
  call(begin + milliseconds(5), 1);
  io_.run();
  EXPECT_GE(clock_->now() - begin, milliseconds(5));
}

TEST_F(AsioClockTest, CallsInTheOrderOfTimesAndThenOfRequests) {
  const Instant now = clock_->now();
  call(now + milliseconds(10), 5);
  call(now + milliseconds(2), 3);
  call(now + milliseconds(2), 4);
  call(now, 1);
  call(now, 2);
  io_.run();
  EXPECT_THAT(called_, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(AsioClockTest, NeverCallsEarly) {
  const Instant when = clock_->now() + milliseconds(20);
  Instant called;
  const auto timer = clock_->call_at(when, [&] { called = clock_->now(); });
  const auto earlier = clock_->call_at(clock_->now() + milliseconds(1), [] {});
  io_.run();
  EXPECT_GE(called, when);
}

TEST_F(AsioClockTest, NeverCallsFromInsideTheRequest) {
  call(Instant{}, 1);
  EXPECT_TRUE(called_.empty());
  io_.run();
  EXPECT_THAT(called_, ElementsAre(1));
}

TEST_F(AsioClockTest, ADroppedTimerDoesNotCall) {
  call(clock_->now(), 1);
  call(clock_->now(), 2);
  timers_.front().reset();
  io_.run();
  EXPECT_THAT(called_, ElementsAre(2));
}

TEST_F(AsioClockTest, DroppingFromInsideAnotherCallPreventsIt) {
  const Instant now = clock_->now();
  std::unique_ptr<Timer> second;
  const auto first = clock_->call_at(now, [&] { second.reset(); });
  second = clock_->call_at(now, [this] { called_.push_back(2); });
  io_.run();
  EXPECT_TRUE(called_.empty());
}

TEST_F(AsioClockTest, DroppingFromAHandlerThatIsQueuedBeforeItPreventsIt) {
  // The time has passed and the handler is queued; the handler that drops the timer runs first.
  boost::asio::post(io_, [this] {
    call(Instant{}, 1);
    boost::asio::post(io_, [this] { timers_.clear(); });
  });
  io_.run();
  EXPECT_TRUE(called_.empty());
}

TEST_F(AsioClockTest, ATimerMayBeDroppedInItsOwnCall) {
  std::unique_ptr<Timer> timer;
  timer = clock_->call_at(Instant{}, [&] {
    timer.reset();
    called_.push_back(1);
  });
  io_.run();
  EXPECT_THAT(called_, ElementsAre(1));
}

TEST_F(AsioClockTest, ACallThatAlwaysRequestsAnotherDoesNotStarveTheRest) {
  std::unique_ptr<Timer> timer;
  bool stop = false;
  std::function<void()> again = [&] {
    if (!stop) timer = clock_->call_at(Instant{}, again);
  };
  again();
  boost::asio::post(io_, [&] { boost::asio::post(io_, [&] { stop = true; }); });
  io_.run_for(std::chrono::seconds(100));
  EXPECT_TRUE(stop);
}

TEST_F(AsioClockTest, TheClockMayBeDestroyedFirstEvenFromInsideACall) {
  call(clock_->now(), 2);
  const auto timer = clock_->call_at(Instant{}, [this] { clock_.reset(); });
  io_.run();
  EXPECT_TRUE(called_.empty());
}

TEST_F(AsioClockTest, AcceptsTheLatestTime) {
  call(Instant{Duration::max()}, 2);
  call(clock_->now(), 1);
  io_.poll();
  while (called_.empty()) io_.run_one();
  EXPECT_THAT(called_, ElementsAre(1));
  timers_.clear();
  io_.run();
  EXPECT_THAT(called_, ElementsAre(1));
}

TEST_F(AsioClockTest, DoesNotWakeWhileNothingIsDue) {
  call(clock_->now() + std::chrono::hours(1), 1);
  io_.poll();
  EXPECT_EQ(io_.run_for(milliseconds(30)), 0U);
}

}  // namespace
}  // namespace cableway::host
