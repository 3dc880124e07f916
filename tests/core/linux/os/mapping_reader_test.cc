#include "core/linux/os/mapping_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

std::vector<Mapping> read_all(int maps) {
  MappingReader reader(maps);
  std::vector<Mapping> mappings;
  for (Mapping mapping; reader.next(mapping);) mappings.push_back(mapping);
  return mappings;
}

std::vector<Mapping> read_all(const std::string& text) {
  const UniqueFd file(::memfd_create("maps", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return read_all(file.get());
}

TEST(MappingReaderTest, ReadsTheKernelsFormat) {
  const std::vector<Mapping> mappings = read_all(
      "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon\n"
      "7f0a00000000-7f0a00021000 rw-p 00000000 00:00 0 \n"
      "7ffeb0000000-7ffeb0001000 rw-s 00003000 00:06 512                        /dev/infiniband/uverbs0\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 103:1f 18446744073709551615                  [vsyscall]\n");
  ASSERT_EQ(mappings.size(), 4U);
  EXPECT_EQ(mappings[0].begin, 0x400000U);
  EXPECT_EQ(mappings[0].end, 0x452000U);
  EXPECT_EQ(mappings[0].device, makedev(8, 2));
  EXPECT_EQ(mappings[0].inode, 173521U);
  EXPECT_EQ(mappings[1].device, makedev(0, 0));
  EXPECT_EQ(mappings[1].inode, 0U);
  EXPECT_EQ(mappings[2].begin, 0x7ffeb0000000U);
  EXPECT_EQ(mappings[2].device, makedev(0, 6));
  EXPECT_EQ(mappings[2].inode, 512U);
  EXPECT_EQ(mappings[3].end, 0xffffffffff601000U);
  EXPECT_EQ(mappings[3].device, makedev(0x103, 0x1f));
  EXPECT_EQ(mappings[3].inode, ~std::uint64_t{0});
}

TEST(MappingReaderTest, NamesMayBeOfAnyLength) {
  const std::string line = "1000-2000 r--p 00000000 08:02 7    /" + std::string(5000, 'n') + " (deleted)\n";
  EXPECT_EQ(read_all(line + line + line).size(), 3U);
}

TEST(MappingReaderTest, EndsAtTruncatedOrMalformedText) {
  EXPECT_TRUE(read_all("").empty());
  EXPECT_TRUE(read_all("nonsense\n1000-2000 r--p 00000000 08:02 7 \n").empty());
  EXPECT_EQ(read_all("1000-2000 r--p 00000000 08:02 7 \n2000-30").size(), 1U);
  EXPECT_EQ(read_all("1000-2000 r--p 00000000 08:02 7 \n2000-3000 r--p 0 08:02 x \n").size(), 1U);
  EXPECT_TRUE(read_all(-1).empty());
}

TEST(MappingReaderTest, FindsAFileOfThisProcess) {
  const UniqueFd file(::memfd_create("mapped", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 65536), 0);
  void* const bytes = ::mmap(nullptr, 65536, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(bytes, MAP_FAILED);
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  const UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  std::vector<Mapping> found;
  for (const Mapping& each : read_all(maps.get())) {
    if (each.device == status.st_dev && each.inode == status.st_ino) found.push_back(each);
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].begin, reinterpret_cast<std::uintptr_t>(bytes));
  EXPECT_EQ(found[0].end - found[0].begin, 65536U);
  ::munmap(bytes, 65536);
}

}  // namespace
}  // namespace cableway::host
