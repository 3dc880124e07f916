#include "tools/cableway/system/host_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/tools/cableway/up/fake_host.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostRootTest : public ::testing::Test {
 protected:
  std::string fault_of_write(const std::string& path) const {
    return std::string(root_.write(path, {"new", 0644}).message());
  }

  FakeHost host_;
  const HostRoot root_{host_.root()};
};

TEST_F(HostRootTest, WritesWholeFilesWithTheirMode) {
  EXPECT_THAT(root_.missing_folders("/etc/a/b/file"), ElementsAre("/etc/a", "/etc/a/b"));
  ASSERT_TRUE(root_.write("/etc/a/b/file", {"text", 0600}).ok());
  EXPECT_EQ(*root_.read("/etc/a/b/file"), HostFile({"text", 0600}));
  ASSERT_TRUE(root_.write("/etc/a/b/file", {"other", 0640}).ok());
  EXPECT_EQ(*root_.read("/etc/a/b/file"), HostFile({"other", 0640}));
  EXPECT_THAT(root_.names_in("/etc/a/b"), ElementsAre("file"));
  ASSERT_TRUE(root_.remove("/etc/a/b/file").ok());
  EXPECT_EQ(*root_.read("/etc/a/b/file"), std::nullopt);
  EXPECT_TRUE(root_.remove("/etc/a/b/file").ok());
}

TEST_F(HostRootTest, LinksAndFoldersAreRefused) {
  host_.write("/target", "text");
  std::filesystem::create_symlink(host_.at("/target"), host_.at("/etc/link"));
  EXPECT_THAT(fault_of_write("/etc/link"), HasSubstr("is a link"));
  EXPECT_THAT(std::string(root_.read("/etc/link").status().message()), HasSubstr("is a link"));
  EXPECT_THAT(std::string(root_.remove("/etc/link").message()), HasSubstr("is a link"));
  EXPECT_THAT(fault_of_write("/etc/netplan"), HasSubstr("is no regular file"));
  EXPECT_EQ(host_.read("/target"), "text");
}

TEST_F(HostRootTest, FoldersThatOthersCanWriteAreRefused) {
  ::chmod(host_.at("/etc/netplan").c_str(), 0777);
  EXPECT_THAT(fault_of_write("/etc/netplan/file"), HasSubstr("can be written by other users"));
  ::chmod(host_.at("/etc/netplan").c_str(), 01777);  // as /tmp
  EXPECT_EQ(fault_of_write("/etc/netplan/file"), "");
}

TEST_F(HostRootTest, NoFolderIsMadeBelowOneThatOthersCanWrite) {
  ::chmod(host_.at("/etc/netplan").c_str(), 0777);
  EXPECT_THAT(fault_of_write("/etc/netplan/a/b/file"), HasSubstr("etc/netplan\" can be written by other users"));
  EXPECT_FALSE(host_.has("/etc/netplan/a"));
}

TEST_F(HostRootTest, WritesOnlyWhatCanBeReadAgain) {
  const std::string large(std::size_t{3} << 20, 'x');
  ASSERT_TRUE(root_.write("/etc/file", {large, 0644}).ok());
  const auto read = root_.read("/etc/file");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)->text == large);
  const absl::Status refused = root_.write("/etc/file", {std::string(kMostHostFileBytes + 1, 'x'), 0644});
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has more than 64 MiB"));
  EXPECT_EQ(host_.read("/etc/file").size(), large.size());
}

TEST_F(HostRootTest, OneProcessHasTheLock) {
  {
    const auto lock = root_.lock("/run/some.lock");
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_THAT(std::string(root_.lock("/run/some.lock").status().message()),
                HasSubstr("is locked by another process"));
  }
  EXPECT_TRUE(root_.lock("/run/some.lock").ok());
}

TEST_F(HostRootTest, ValuesAreLines) {
  EXPECT_EQ(root_.read_value("/proc/sys/net/ipv4/conf/eth1/arp_ignore"), "0");
  ASSERT_TRUE(root_.write_value("/proc/sys/net/ipv4/conf/eth1/arp_ignore", "1").ok());
  EXPECT_EQ(root_.read_value("/proc/sys/net/ipv4/conf/eth1/arp_ignore"), "1");
  EXPECT_EQ(root_.read_value("/proc/sys/net/ipv4/conf/eth9/arp_ignore"), std::nullopt);
  EXPECT_FALSE(root_.write_value("/proc/sys/net/ipv4/conf/eth9/arp_ignore", "1").ok());
}

}  // namespace
}  // namespace cableway::cli
