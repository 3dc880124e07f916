#include "core/linux/os/free_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

class FreeMemoryTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.path(file)).parent_path());
    static_cast<void>(folder_.file(file, text));
  }
  std::uint64_t free_bytes() const { return free_memory_bytes(folder_.path("")); }

 private:
  const test::TemporaryFolder folder_;
};

TEST_F(FreeMemoryTest, IsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(free_bytes(), std::numeric_limits<std::uint64_t>::max()) << "not known";
  write("proc/meminfo", "MemTotal:       24000000 kB\nMemFree:  7 kB\nMemAvailable:   18000000 kB\n");
  EXPECT_EQ(free_bytes(), 18000000ULL << 10);
}

TEST_F(FreeMemoryTest, IsWhatTheGroupsLeave) {
  write("proc/meminfo", "MemAvailable:   18000000 kB\n");
  write("proc/self/cgroup", "0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  EXPECT_EQ(free_bytes(), 18000000ULL << 10);
  write("sys/fs/cgroup/jobs/memory.max", "5000\n");
  write("sys/fs/cgroup/jobs/memory.current", "1000\n");
  EXPECT_EQ(free_bytes(), 4000U);
  write("sys/fs/cgroup/jobs/one/memory.max", "300\n");
  EXPECT_EQ(free_bytes(), 300U);
  write("sys/fs/cgroup/jobs/one/memory.current", "301\n");
  EXPECT_EQ(free_bytes(), 0U);
}

TEST(FreeMemory, IsKnownHere) {
  const std::uint64_t bytes = free_memory_bytes();
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, 1ULL << 50);
}

}  // namespace
}  // namespace cableway::host
