#include "core/linux/os/thread_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace cableway::host {
namespace {

using std::chrono::milliseconds;

TEST(ThreadTimeTest, WorkCountsAndSleepDoesNot) {
  const ThreadTime time;
  const Duration begin = time.spent();
  const auto until = std::chrono::steady_clock::now() + milliseconds(100);
  while (std::chrono::steady_clock::now() < until) {
  }
  // On a processor or waiting for one; the kernel counts by ticks.
  const Duration worked = time.spent() - begin;
  EXPECT_GT(worked, milliseconds(80));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(time.spent() - begin - worked, milliseconds(80));
}

}  // namespace
}  // namespace cableway::host
