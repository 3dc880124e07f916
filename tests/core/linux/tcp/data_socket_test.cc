#include "core/linux/tcp/data_socket.h"

#include <gtest/gtest.h>
#include <linux/socket.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "core/linux/os/unique_fd.h"
#include "tests/core/linux/unprivileged_child.h"

namespace cableway::host {
namespace {

UniqueFd tcp_socket() {
  return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

int option(int socket, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(socket, SOL_SOCKET, name, &value, &size);
  return value;
}

constexpr int kBothFixed = SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;

// Before Linux 5.14, and under qemu-user, the locks can be neither read nor released.
bool locks_are_known() {
  const UniqueFd socket = tcp_socket();
  const int both = kBothFixed;
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_BUF_LOCK, &both, sizeof both) == 0 &&
         option(socket.get(), SO_BUF_LOCK) == both;
}

TEST(DataSocket, FixesBuffersWithinTheLimits) {
  if (!locks_are_known()) GTEST_SKIP() << "this kernel has no SO_BUF_LOCK";
  EXPECT_EQ(test::status_of_child([] {
              const UniqueFd socket = tcp_socket();
              CHILD_REQUIRE(set_send_buffer(socket.get(), 65536).ok());
              CHILD_REQUIRE(set_receive_buffer(socket.get(), 65536).ok());
              CHILD_REQUIRE(option(socket.get(), SO_BUF_LOCK) == kBothFixed);
              CHILD_REQUIRE(option(socket.get(), SO_SNDBUF) == 2 * 65536);
              CHILD_REQUIRE(option(socket.get(), SO_RCVBUF) == 2 * 65536);
            }),
            0);
}

TEST(DataSocket, LeavesBuffersBeyondTheLimitsToTheKernel) {
  if (!locks_are_known()) GTEST_SKIP() << "this kernel has no SO_BUF_LOCK";
  // More than any reasonable system limit.
  const long most = std::max(test::kernel_setting("/proc/sys/net/core/wmem_max"),
                             test::kernel_setting("/proc/sys/net/core/rmem_max"));
  if (most <= 0 || most >= 256 << 20) GTEST_SKIP() << "this system's limits are unknown or too large to pass";
  EXPECT_EQ(test::status_of_child([most] {
              const UniqueFd socket = tcp_socket();
              CHILD_REQUIRE(set_send_buffer(socket.get(), static_cast<int>(2 * most)).ok());
              CHILD_REQUIRE(set_receive_buffer(socket.get(), static_cast<int>(2 * most)).ok());
              CHILD_REQUIRE(option(socket.get(), SO_BUF_LOCK) == 0);
            }),
            0);
}

}  // namespace
}  // namespace cableway::host
