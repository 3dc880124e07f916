#include "sim/virtual_clock.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

class Noted final : public Occurrence {
 public:
  explicit Noted(std::string& log) : log_(log) {}
  void occur(std::uint64_t argument) override { log_ += std::to_string(argument); }

 private:
  std::string& log_;
};

TEST(VirtualClockTest, RunsEventsByTimeThenByOrderOfScheduling) {
  VirtualClock clock;
  std::string log;
  Noted noted(log);
  clock.post_at(Instant{2us}, [&] { log += "c"; });
  clock.schedule(Instant{1us}, noted, 7);
  const std::unique_ptr<Timer> timer = clock.call_at(Instant{1us}, [&] { log += "b"; });
  clock.run_until(Instant{1us});
  EXPECT_EQ(log, "7b");
  EXPECT_EQ(clock.now(), Instant{1us});
  clock.run_for(1us);
  EXPECT_EQ(log, "7bc");
  EXPECT_EQ(clock.calls(), 3U);
}

TEST(VirtualClockTest, PastTimesRunNow) {
  VirtualClock clock;
  clock.run_until(Instant{5us});
  int calls = 0;
  clock.post_at(Instant{1us}, [&] { ++calls; });
  clock.run_until(Instant{5us});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(clock.now(), Instant{5us});
}

TEST(VirtualClockTest, ADroppedTimerIsNotCalledAndReleasesItsCaptures) {
  VirtualClock clock;
  const auto held = std::make_shared<int>(0);
  std::unique_ptr<Timer> timer = clock.call_after(1us, [held] { ++*held; });
  EXPECT_EQ(held.use_count(), 2);
  timer.reset();
  EXPECT_EQ(held.use_count(), 1);
  clock.run_for(2us);
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(clock.calls(), 0U);
}

TEST(VirtualClockTest, ACallMayDropItsOwnTimerAndMakeAnother) {
  VirtualClock clock;
  int calls = 0;
  std::unique_ptr<Timer> timer;
  timer = clock.call_after(1us, [&] {
    ++calls;
    timer = clock.call_after(1us, [&] { ++calls; });
  });
  clock.run_for(3us);
  EXPECT_EQ(calls, 2);
}

TEST(VirtualClockTest, ATimerMayOutliveItsCall) {
  VirtualClock clock;
  std::unique_ptr<Timer> timer = clock.call_after(1us, [] {});
  clock.run_for(2us);
  timer.reset();
  clock.run_for(1us);
  EXPECT_EQ(clock.calls(), 1U);
}

// Otherwise timers that are re-armed at every hello would accumulate until their times.
TEST(VirtualClockTest, ManyDroppedTimersDoNotAffectOthers) {
  VirtualClock clock;
  std::vector<int> order;
  std::vector<std::unique_ptr<Timer>> kept;
  for (int i = 0; i < 5000; ++i) {
    const Instant when{std::chrono::microseconds(5000 - i)};
    if (i % 100 == 0) {
      kept.push_back(clock.call_at(when, [&order, i] { order.push_back(i); }));
    } else {
      clock.call_at(when, [] { FAIL() << "a dropped timer was called"; }).reset();
    }
  }
  clock.run_for(1s);
  ASSERT_EQ(order.size(), 50U);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], 4900 - 100 * static_cast<int>(i));
}

TEST(VirtualClockTest, StopsAtTheEndOfTheInstantInWhichTheConditionHolds) {
  VirtualClock clock;
  std::string log;
  clock.post_at(Instant{1us}, [&] { log += "a"; });
  clock.post_at(Instant{1us}, [&] { log += "b"; });
  clock.post_at(Instant{2us}, [&] { log += "c"; });
  EXPECT_TRUE(clock.run_until_true([&] { return !log.empty(); }, 1s));
  EXPECT_EQ(log, "ab");
  EXPECT_FALSE(clock.run_until_true([&] { return log == "abcd"; }, 10us));
  EXPECT_EQ(clock.now(), Instant{11us});
}

TEST(VirtualClockTest, ReleasesPendingCallsOnDestruction) {
  const auto held = std::make_shared<int>(0);
  {
    VirtualClock clock;
    clock.post_at(Instant{1us}, [held] { ++*held; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace cableway::sim
