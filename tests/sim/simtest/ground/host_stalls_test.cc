#include "sim/simtest/ground/host_stalls.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

TEST(HostStalls, AnIdleHostIsNeverLate) {
  HostStalls stalls(1);
  for (int ms = 0; ms < 1000; ++ms)
    EXPECT_EQ(stalls.after(Instant{milliseconds(ms)}, Duration{0}), Instant{milliseconds(ms)});
}

TEST(HostStalls, ABusyHostIsLateNowAndThenAndByTheLongestStallAtMost) {
  HostStalls stalls(2);
  constexpr milliseconds kLongest{60};
  Duration latest{0};
  int late = 0;
  for (int ms = 0; ms < 100'000; ++ms) {
    const Duration by = stalls.after(Instant{milliseconds(ms)}, kLongest) - Instant{milliseconds(ms)};
    EXPECT_GE(by, Duration{0});
    latest = std::max(latest, by);
    late += by > Duration{0} ? 1 : 0;
  }
  EXPECT_LE(latest, kLongest);
  EXPECT_GT(latest, kLongest * 9 / 10);
  EXPECT_GT(late, 5'000);
  EXPECT_LT(late, 20'000);
}

TEST(HostStalls, ThoseOfOneHostAreOneSequence) {
  HostStalls stalls(3);
  Instant last;
  for (int ms = 0; ms < 10'000; ++ms) {
    const Instant runs = stalls.after(Instant{milliseconds(ms)}, milliseconds(30));
    EXPECT_GE(runs, last);
    last = runs;
  }
}

}  // namespace
}  // namespace cableway::sim
