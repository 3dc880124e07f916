#include "core/paced_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;

// A fifth of the time, 100 ms beyond that at once.
class Pace : public ::testing::Test {
 protected:
  void compute(Duration time) {
    const PacedWork::Run run(pace_, clock_);
    clock_.run_for(time);
  }
  Duration pause() const { return std::max(Duration(0), pace_.due() - clock_.now()); }

  sim::VirtualClock clock_;
  PacedWork pace_{PacedWork::Limits{5, 100ms, 0ms, 5s}};
};

TEST_F(Pace, ShortComputationsDoNotWait) {
  clock_.run_for(1s);
  for (int i = 0; i < 50; ++i) {
    compute(2ms);
    EXPECT_EQ(pause(), 0ms);
  }
}

TEST_F(Pace, OneThatWasInterruptedDelaysNothing) {
  clock_.run_for(1s);
  compute(90ms);
  EXPECT_EQ(pause(), 0ms);
}

TEST_F(Pace, LongOnesTakeAFifthOfTheTime) {
  clock_.run_for(1s);
  const Instant begin = clock_.now();
  Duration computed{0};
  for (int i = 0; i < 50; ++i) {
    compute(300ms);
    computed += 300ms;
    clock_.run_for(pause());
  }
  EXPECT_LE(computed * 5, clock_.now() - begin + 5 * 100ms);
}

TEST_F(Pace, NoneWaitsLongerThanTheLimit) {
  compute(60s);
  EXPECT_EQ(pause(), 5s);
}

TEST_F(Pace, APartOfAComputationCountsOnce) {
  clock_.run_for(1s);
  {
    const PacedWork::Run whole(pace_, clock_);
    compute(60ms);
  }
  EXPECT_EQ(pause(), 0ms);
}

}  // namespace
}  // namespace cableway
