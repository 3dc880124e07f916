#include "core/linux/os/folder_watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "tests/core/linux/fake_sysfs.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host {
namespace {

class FolderWatchTest : public testing::Test {
 protected:
  FolderWatchTest() {
    files_.write("dev/uverbs0", "");
    auto watch = FolderWatch::start(io_, files_.root() + "/dev", [this] {
      ++changes_;
      if (ends_) watch_.reset();
    });
    EXPECT_TRUE(watch.ok()) << watch.status();
    if (watch.ok()) watch_ = *std::move(watch);
  }
  bool changes_to(int count) {
    return test::runs_until(io_, [&] { return changes_ >= count; });
  }

  boost::asio::io_context io_;
  test::FakeSysfs files_;
  std::unique_ptr<FolderWatch> watch_;
  int changes_ = 0;
  bool ends_ = false;
};

TEST_F(FolderWatchTest, ReportsCreatedAndRemovedFilesAndTheirModes) {
  files_.write("dev/uverbs1", "");
  EXPECT_TRUE(changes_to(1));
  EXPECT_EQ(::chmod((files_.root() + "/dev/uverbs1").c_str(), 0600), 0);
  EXPECT_TRUE(changes_to(2));
  files_.remove("dev/uverbs1");
  EXPECT_TRUE(changes_to(3));
}

TEST_F(FolderWatchTest, ReportsSeveralChangesOnceAndNothingWithoutChanges) {
  for (int i = 1; i < 20; ++i) files_.write("dev/uverbs" + std::to_string(i), "");
  EXPECT_TRUE(changes_to(1));
  io_.restart();
  io_.run_for(std::chrono::milliseconds(100));
  EXPECT_EQ(changes_, 1);
}

TEST_F(FolderWatchTest, MayBeDestroyedByItsCallback) {
  ends_ = true;
  files_.write("dev/uverbs1", "");
  EXPECT_TRUE(changes_to(1));
  EXPECT_EQ(watch_, nullptr);
}

TEST_F(FolderWatchTest, NamesAMissingFolder) {
  const auto watch = FolderWatch::start(io_, files_.root() + "/none", [] {});
  EXPECT_EQ(watch.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(watch.status().message().find("/none"), std::string::npos);
}

}  // namespace
}  // namespace cableway::host
