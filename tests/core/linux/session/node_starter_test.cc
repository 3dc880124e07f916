// Starting a node, with shell scripts in place of the daemon.
#include "core/linux/session/node_starter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kLong{60000};
constexpr std::chrono::milliseconds kShort{500};  // for a daemon that hangs

class NodeStarterTest : public testing::Test {
 protected:
  NodeStarterTest() {
    std::string name = testing::TempDir() + "/node_starter.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~NodeStarterTest() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& text) {
    const std::string path = folder_ + "/daemon";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  }
  // What a script wrote to `name` in its folder, without the last newline; waits until it exists.
  std::string written(const std::string& name) const {
    for (int i = 0; i < 500; ++i) {
      std::ifstream file(folder_ + "/" + name);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      if (!text.empty() && text.back() == '\n') return text.substr(0, text.size() - 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }
  // Whether it has ended. It may stay a zombie for long, since orphans are reaped by the machine's init process.
  static bool ends(int pid) {
    for (int i = 0; i < 500; ++i) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
      std::string number;
      std::string name;
      std::string state;
      if (!(file >> number >> name >> state) || state == "Z") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Starts a daemon that writes `pid` but never becomes ready; repeats if it was stopped before writing.
  absl::Status start_hanging(const std::string& daemon) const {
    absl::Status status = start_node(daemon, kShort);
    for (int i = 0; i < 20 && std::ifstream(folder_ + "/pid").peek() == EOF; ++i) status = start_node(daemon, kShort);
    return status;
  }

  std::string folder_;
};

TEST_F(NodeStarterTest, ReturnsWhenTheNodeIsReady) {
  const absl::Status status = start_node(script("echo starting >&3; echo ready >&3"), kLong);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NodeStarterTest, StartsItInItsOwnSessionWithoutOurDescriptors) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);  // no close-on-exec, like a descriptor leaked by some library
  const std::string daemon =
      script("cd " + folder_ + "\necho \"$@\" > arguments\nls /proc/self/fd | tr '\\n' ' ' > part\n" +
             "echo >> part; mv part files\necho ready >&3");
  ASSERT_TRUE(start_node(daemon, kLong).ok());
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  EXPECT_EQ(written("arguments"), "--session --ready-fd=3");
  // 0, 1, 2, 3 and the one with which ls reads the folder.
  EXPECT_EQ(written("files"), "0 1 2 3 4 ");
}

TEST_F(NodeStarterTest, LeavesTheNodeRunning) {
  const std::string daemon = script("( echo ready >&3; exec 3>&-; sleep 300 ) &\necho $! > " + folder_ + "/pid");
  ASSERT_TRUE(start_node(daemon, kLong).ok());
  const int pid = std::stoi(written("pid"));
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_NE(::getsid(pid), ::getsid(0));
  ::kill(pid, SIGKILL);
}

TEST_F(NodeStarterTest, ReportsTheDaemonsOutput) {
  const std::string daemon = script("echo no key: set CABLEWAY_KEY_FILE >&3; exit 1");
  const absl::Status status = start_node(daemon, kLong);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(), daemon + ": no key: set CABLEWAY_KEY_FILE");
}

TEST_F(NodeStarterTest, ReportsThatTheDaemonEndedWithoutAMessage) {
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = start_node(script("exit 3"), kLong);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("ended without an error message"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
}

TEST_F(NodeStarterTest, StopsADaemonThatHangs) {
  const std::string daemon = script("echo $$ > " + folder_ + "/pid\nexec sleep 300");
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = start_hanging(daemon);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong) << "it waited for the daemon's end";
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith(daemon), HasSubstr("within 500 ms"), HasSubstr("was stopped")));
  EXPECT_TRUE(ends(std::stoi(written("pid"))));
}

TEST_F(NodeStarterTest, StopsTheChildrenOfADaemonThatHangs) {
  const std::string daemon = script("sleep 300 &\necho $! > " + folder_ + "/pid\nwait");
  EXPECT_FALSE(start_hanging(daemon).ok());
  EXPECT_TRUE(ends(std::stoi(written("pid"))));
}

TEST_F(NodeStarterTest, DoesNotWaitForADaemonThatIsReadyAndDoesNotFork) {
  const std::string daemon = script("echo $$ > " + folder_ + "/pid\necho ready >&3\nexec 3>&-\nexec sleep 300");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(start_node(daemon, kLong).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
  ::kill(std::stoi(written("pid")), SIGKILL);
}

TEST_F(NodeStarterTest, NamesAMissingDaemon) {
  const absl::Status status = start_node(folder_ + "/missing", kLong);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/missing"));
}

}  // namespace
}  // namespace cableway::host
