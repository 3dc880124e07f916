#include "tools/cablewayd/systemd_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/linux/os/unique_fd.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The socket on which systemd receives a service's notices.
class SystemdNoticeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = ::testing::TempDir() + "/notify." + std::to_string(::getpid());
    socket_ = host::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(file_.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, file_.c_str(), file_.size());
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", file_.c_str(), 1);
  }

  void TearDown() override {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    ::unsetenv("WATCHDOG_PID");
    std::filesystem::remove(file_);
  }

  std::vector<std::string> received() const {
    std::vector<std::string> notices;
    char notice[1024];
    while (true) {
      const ssize_t size = ::recv(socket_.get(), notice, sizeof notice, 0);
      if (size < 0) return notices;
      notices.emplace_back(notice, static_cast<std::size_t>(size));
    }
  }

  boost::asio::io_context io_;

 private:
  std::string file_;
  host::UniqueFd socket_;
};

TEST_F(SystemdNoticeTest, TellsWhatTheNodeDoes) {
  const auto notice = SystemdNotice::open(io_);
  ASSERT_TRUE(notice.ok()) << notice.status();
  (*notice)->ready();
  EXPECT_THAT(received(), ElementsAre("READY=1"));
  (*notice)->reloading();
  (*notice)->reloaded();
  EXPECT_THAT(received(), ElementsAre("RELOADING=1", "READY=1"));
  (*notice)->stopping("signal 15\nREADY=1");
  EXPECT_THAT(received(), ElementsAre("STOPPING=1\nSTATUS=signal 15 READY=1"));
}

TEST_F(SystemdNoticeTest, AnswersTheWatchdogAsLongAsItsThreadTurns) {
  ::setenv("WATCHDOG_USEC", "20000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const auto notice = SystemdNotice::open(io_);
  ASSERT_TRUE(notice.ok()) << notice.status();
  (*notice)->ready();
  EXPECT_THAT(received(), ElementsAre("READY=1", "WATCHDOG=1"));
  ::usleep(50'000);
  EXPECT_THAT(received(), IsEmpty());
  ASSERT_EQ(io_.run_one_for(10s), 1U);
  EXPECT_THAT(received(), ElementsAre("WATCHDOG=1"));
  ASSERT_EQ(io_.run_one_for(10s), 1U);
  EXPECT_THAT(received(), ElementsAre("WATCHDOG=1"));
}

TEST_F(SystemdNoticeTest, IgnoresTheWatchdogOfAnotherProcess) {
  ::setenv("WATCHDOG_USEC", "20000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getppid()).c_str(), 1);
  const auto notice = SystemdNotice::open(io_);
  ASSERT_TRUE(notice.ok()) << notice.status();
  (*notice)->ready();
  EXPECT_THAT(received(), ElementsAre("READY=1"));
  EXPECT_EQ(io_.run_for(50ms), 0U);
}

TEST_F(SystemdNoticeTest, SaysNothingWhereSystemdExpectsNothing) {
  ::unsetenv("NOTIFY_SOCKET");
  const auto notice = SystemdNotice::open(io_);
  ASSERT_TRUE(notice.ok()) << notice.status();
  (*notice)->ready();
  (*notice)->stopping("signal 15");
  EXPECT_THAT(received(), IsEmpty());
}

}  // namespace
}  // namespace cableway
