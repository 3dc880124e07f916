#include "tools/cablewayd/node_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/core/linux/temporary_folder.h"

namespace cableway {
namespace {

using host::test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Event event(const std::string& text, EventCode code = EventCode::kCableUp) {
  Event event;
  event.time = std::chrono::sys_days(std::chrono::March / 1 / 2026);
  event.code = code;
  event.text = text;
  return event;
}

class CapturedErrors {
 public:
  CapturedErrors() { ::testing::internal::CaptureStderr(); }
  ~CapturedErrors() {
    if (!taken_) take();
  }
  std::string take() {
    taken_ = true;
    return ::testing::internal::GetCapturedStderr();
  }

 private:
  bool taken_ = false;
};

TEST(NodeLog, GoesToStandardErrorWithoutAFile) {
  CapturedErrors errors;
  NodeLog log("", EventSeverity::kInfo);
  EXPECT_TRUE(log.reopen().ok());
  log.write(event("shown"));
  log.write(event("hidden", EventCode::kSetupArrived));
  EXPECT_THAT(errors.take(), AllOf(HasSubstr("shown\n"), Not(HasSubstr("hidden"))));
}

TEST(NodeLog, LinesHaveSeverityCodeAndText) {
  CapturedErrors errors;
  NodeLog log("", EventSeverity::kDebug);
  log.write(event("set-up n0 -c0-> n1 has arrived", EventCode::kSetupArrived));
  log.write(event("circuit n0 -c0-> n1 ended: silent", EventCode::kCircuitBroken));
  log.write(event("cannot listen", EventCode::kNotListening));
  EXPECT_THAT(errors.take(), AllOf(HasSubstr("[debug] SETUP_ARRIVED set-up n0 -c0-> n1 has arrived\n"),
                                   HasSubstr("[warning] CIRCUIT_BROKEN circuit n0 -c0-> n1 ended: silent\n"),
                                   HasSubstr("[error] NOT_LISTENING cannot listen\n"),
                                   HasSubstr("[2026-03-01T00:00:00.000Z] [cablewayd] [debug]")));
}

TEST(NodeLog, ShowsEventsFromItsLeastSeverityUp) {
  CapturedErrors errors;
  NodeLog log("", EventSeverity::kWarning);
  log.write(event("topology", EventCode::kTopologyChanged));
  log.write(event("lost", EventCode::kCircuitLost));
  log.set_least(EventSeverity::kError);
  log.write(event("broken", EventCode::kCircuitBroken));
  EXPECT_THAT(errors.take(),
              AllOf(HasSubstr("CIRCUIT_LOST lost\n"), Not(HasSubstr("topology")), Not(HasSubstr("broken"))));
}

TEST(NodeLog, AppendsToItsFileImmediately) {
  const TemporaryFolder folder;
  const std::string path = folder.file("node.log", "before\n");
  CapturedErrors errors;
  NodeLog log(path, EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  log.write(event("line"));
  EXPECT_THAT(text_of(path), AllOf(::testing::StartsWith("before\n"), ::testing::EndsWith("line\n")));
  EXPECT_EQ(errors.take(), "");
}

TEST(NodeLog, FollowsARotation) {
  const TemporaryFolder folder;
  const std::string path = folder.path("node.log");
  NodeLog log(path, EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  log.write(event("first"));
  std::filesystem::rename(path, path + ".1");
  log.write(event("second"));
  ASSERT_TRUE(log.reopen().ok());
  log.write(event("third"));
  EXPECT_THAT(text_of(path + ".1"), AllOf(HasSubstr("first"), HasSubstr("second"), Not(HasSubstr("third"))));
  EXPECT_THAT(text_of(path), AllOf(HasSubstr("third"), Not(HasSubstr("second"))));
}

TEST(NodeLog, AFullDiskIsCountedAndReportedOnce) {
  CapturedErrors errors;
  NodeLog log("/dev/full", EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  constexpr int kLines = 10000;  // far more than any buffer holds
  for (int i = 0; i < kLines; ++i) log.write(event("line " + std::to_string(i)));
  EXPECT_GE(log.write_errors(), static_cast<std::uint64_t>(kLines));
  const std::string reported = errors.take();
  EXPECT_EQ(std::count(reported.begin(), reported.end(), '\n'), 1) << reported.substr(0, 1000);
  EXPECT_THAT(reported,
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left on device"), HasSubstr("the node continues")));
}

TEST(NodeLog, ContinuesUnchangedIfTheFileCannotBeOpened) {
  const TemporaryFolder folder;
  const std::string path = folder.path("node.log");
  NodeLog log(path, EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  std::filesystem::rename(path, path + ".1");
  std::filesystem::create_directory(path);
  const absl::Status status = log.reopen();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected a regular file"));
  log.write(event("still here"));
  EXPECT_THAT(text_of(path + ".1"), HasSubstr("still here"));
}

TEST(NodeLog, FollowsNoLinkToAFile) {
  const TemporaryFolder folder;
  const std::string other = folder.file("other_users_file", "kept\n");
  const std::string path = folder.path("node.log");
  std::filesystem::create_symlink(other, path);
  CapturedErrors errors;
  NodeLog log(path, EventSeverity::kInfo);
  const absl::Status status = log.reopen();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(path), HasSubstr("is a symbolic link"),
                                                   HasSubstr("expected a regular file, or none yet")));
  log.write(event("line"));
  EXPECT_EQ(text_of(other), "kept\n");
  EXPECT_THAT(errors.take(), HasSubstr("line\n"));
}

TEST(NodeLog, MakesNoFileThroughALink) {
  const TemporaryFolder folder;
  const std::string other = folder.path("none_yet");
  const std::string path = folder.path("node.log");
  std::filesystem::create_symlink(other, path);
  EXPECT_FALSE(NodeLog(path, EventSeverity::kInfo).reopen().ok());
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST(NodeLog, FollowsNoLinkThatARotationLeft) {
  const TemporaryFolder folder;
  const std::string path = folder.path("node.log");
  NodeLog log(path, EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  std::filesystem::rename(path, path + ".1");
  const std::string other = folder.file("other_users_file", "");
  std::filesystem::create_symlink(other, path);
  EXPECT_FALSE(log.reopen().ok());
  log.write(event("still here"));
  EXPECT_EQ(text_of(other), "");
  EXPECT_THAT(text_of(path + ".1"), HasSubstr("still here"));
}

TEST(NodeLog, MakesMissingFoldersAlsoBehindALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("disk"));
  std::filesystem::create_directory_symlink(folder.path("disk"), folder.path("log"));
  NodeLog log(folder.path("log/of/node.log"), EventSeverity::kInfo);
  ASSERT_TRUE(log.reopen().ok());
  log.write(event("line"));
  EXPECT_THAT(text_of(folder.path("disk/of/node.log")), HasSubstr("line"));
}

TEST(NodeLog, RefusesAnotherUsersFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("node.log", "");
  if (::chown(path.c_str(), 12345, -1) != 0) GTEST_SKIP() << "only root can give a file away";
  const absl::Status status = NodeLog(path, EventSeverity::kInfo).reopen();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("is owned by user 12345"), HasSubstr("chown it")));
}

TEST(NodeLog, RefusesDevicesThatKeepData) {
  for (const char* path : {"/dev/null", "/dev/full"}) {
    EXPECT_TRUE(NodeLog(path, EventSeverity::kInfo).reopen().ok()) << path;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(NodeLog("/dev/zero", EventSeverity::kInfo).reopen()));
}

TEST(NodeLog, DoesNotWaitForAPipesReader) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(NodeLog(path, EventSeverity::kInfo).reopen().ok());
}

TEST(NodeLog, AnImpossibleFolderIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file", "") + "/node.log";
  CapturedErrors errors;
  NodeLog log(path, EventSeverity::kInfo);
  EXPECT_THAT(std::string(log.reopen().message()), HasSubstr(path));
  log.write(event("elsewhere"));
  EXPECT_THAT(errors.take(), HasSubstr("elsewhere"));
}

}  // namespace
}  // namespace cableway
