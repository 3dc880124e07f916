#include "core/linux/own_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "core/linux/unique_fd.h"

namespace cableway::linux_ {
namespace {

std::array<UniqueFd, 2> socket_pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

// Whether `check` holds in a child.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(OwnSocketsTest, AChildClosesWhatWasNotedAndNothingElse) {
  const auto [noted, other] = socket_pair();
  note_own_socket(noted.get());
  EXPECT_TRUE(in_child([first = noted.get(), second = other.get()] {
    close_own_sockets();
    return !is_open(first) && is_open(second);
  }));
  // The parent's connection is up.
  EXPECT_EQ(::send(noted.get(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 1);
}

TEST(OwnSocketsTest, TheEndIsSeenAlthoughTheChildLives) {
  auto [noted, other] = socket_pair();
  note_own_socket(noted.get());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close_own_sockets();
    // Until the parent is done with its other end.
    ::pause();
  }
  noted.reset();
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(other.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(OwnSocketsTest, ANumberThatIsSomethingElseByNowIsLeftAlone) {
  auto [noted, other] = socket_pair();
  const int number = noted.get();
  note_own_socket(number);
  noted.reset();
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(file.get(), number) << "the lowest free number is given next";
  EXPECT_TRUE(in_child([number] {
    close_own_sockets();
    return is_open(number);
  }));
  const auto [another, peer] = socket_pair();
  ASSERT_GE(another.get(), 0);
  EXPECT_TRUE(in_child([first = another.get(), second = peer.get()] {
    close_own_sockets();
    return is_open(first) && is_open(second);
  }));
}

TEST(OwnSocketsTest, WhatIsNoSocketIsNotNoted) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  note_own_socket(file.get());
  note_own_socket(-1);
  EXPECT_TRUE(in_child([number = file.get()] {
    close_own_sockets();
    return is_open(number);
  }));
}

}  // namespace
}  // namespace cableway::linux_
