#include "core/linux/os/process_use.h"

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <vector>

namespace cableway::host {
namespace {

TEST(ProcessUse, IsThatOfThisProcess) {
  const ProcessUse use = read_process_use();
  EXPECT_GT(use.resident_bytes, 100'000U);
  EXPECT_GE(use.virtual_bytes, use.resident_bytes);
  EXPECT_GE(use.open_files, 3U);
  EXPECT_GE(use.max_files, use.open_files);
  EXPECT_NEAR(use.start_time_s, static_cast<double>(std::time(nullptr)), 600);
}

TEST(ProcessUse, GrowsWithWhatTheProcessDoes) {
  const ProcessUse before = read_process_use();
  const std::ifstream file("/proc/self/stat");
  volatile std::uint64_t sum = 0;
  ProcessUse after = read_process_use();
  while (after.cpu_s < before.cpu_s + 0.01) {
    for (std::uint64_t i = 0; i < 100'000; ++i) sum = sum + i;
    after = read_process_use();
  }
  EXPECT_EQ(after.open_files, before.open_files + 1);
  EXPECT_EQ(after.start_time_s, before.start_time_s);
}

}  // namespace
}  // namespace cableway::host
