// How the plugin handles errors: each with a reason, in bounded time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class PluginFailure : public testing::TestWithParam<int> {
 protected:
  World world_{"a"};
  Rank rank_{GetParam()};
};

TEST_P(PluginFailure, AnOversizeSendFailsAtBothEnds) {
  auto [sender, receiver] = rank_.connect_to_self();
  Buffer from = rank_.make_buffer(sender, 5000, 1);
  Buffer to = rank_.make_buffer(receiver, 5000, 2);
  const std::vector<std::byte> before = to.bytes;
  void* receive = rank_.post_receive(receiver, to, 4999);
  void* send = rank_.post_send(sender, from, 5000);
  ASSERT_NE(receive, nullptr);
  Outcome sent;
  if (send != nullptr) sent = rank_.finish(send);
  EXPECT_TRUE(send == nullptr || sent.result != abi::kSuccess);
  EXPECT_NE(rank_.finish(receive).result, abi::kSuccess);
  EXPECT_EQ(to.bytes, before);
  EXPECT_THAT(warnings(), Contains(HasSubstr("message 0 of 5000 bytes is larger than its receive of 4999 bytes")));
  rank_.net().close_send(sender);
  rank_.net().close_recv(receiver);
}

TEST_P(PluginFailure, ADamagedHandleIsRefusedAtOnce) {
  auto [handle, listener] = rank_.listen();
  for (std::size_t at = 0; at < 100; at += 3) {
    Handle damaged = handle;
    damaged[at] ^= std::byte{0x55};
    void* comm = nullptr;
    EXPECT_NE(rank_.net().connect(0, damaged.data(), &comm), abi::kSuccess) << at;
    EXPECT_EQ(comm, nullptr);
  }
  Handle noise;
  const std::vector<std::byte> random = pattern(noise.size(), 99);
  std::copy(random.begin(), random.end(), noise.begin());
  void* comm = nullptr;
  EXPECT_NE(rank_.net().connect(0, noise.data(), &comm), abi::kSuccess);
  EXPECT_THAT(warnings(), Contains(HasSubstr("handle is not one of Cableway's")));
  EXPECT_THAT(warnings(), Contains(HasSubstr("handle is damaged")));
  rank_.net().close_listen(listener);
}

TEST_P(PluginFailure, ConnectToAClosedListenerNamesTheReason) {
  auto [handle, listener] = rank_.listen();
  rank_.net().close_listen(listener);
  abi::Result result = abi::kSuccess;
  EXPECT_EQ(rank_.connect(handle, &result), nullptr);
  EXPECT_NE(result, abi::kSuccess);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no longer listens")));
}

TEST_P(PluginFailure, AbortReleasesMemory) {
  auto [sender, receiver] = rank_.connect_to_self();
  Buffer from = rank_.make_buffer(sender, 1 << 20, 1);
  Buffer to = rank_.make_buffer(receiver, 1 << 20, 2);
  void* receive = rank_.post_receive(receiver, to, to.bytes.size());
  ASSERT_NE(receive, nullptr);
  ASSERT_NE(rank_.post_send(sender, from, from.bytes.size()), nullptr);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(rank_.net().deregister(receiver, to.mhandle), abi::kSuccess);
  const std::vector<std::byte> at_return = to.bytes;
  EXPECT_EQ(rank_.net().deregister(sender, from.mhandle), abi::kSuccess);
  EXPECT_EQ(rank_.net().close_recv(receiver), abi::kSuccess);
  EXPECT_EQ(rank_.net().close_send(sender), abi::kSuccess);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(to.bytes, at_return);
}

TEST_P(PluginFailure, ABufferOutsideItsRegistrationIsRefused) {
  auto [sender, receiver] = rank_.connect_to_self();
  Buffer from = rank_.make_buffer(sender, 1000, 1);
  void* request = nullptr;
  EXPECT_NE(rank_.net().isend(sender, from.bytes.data() + 1, 1000, from.mhandle, &request), abi::kSuccess);
  EXPECT_EQ(request, nullptr);
  EXPECT_NE(rank_.net().isend(sender, from.bytes.data(), 1000, nullptr, &request), abi::kSuccess);
  // The flow itself is unaffected.
  EXPECT_NE(rank_.post_send(sender, from, 1000), nullptr);
  rank_.net().close_send(sender);
  rank_.net().close_recv(receiver);
}

TEST_P(PluginFailure, TheOtherEndsCloseFailsPendingRequests) {
  auto [sender, receiver] = rank_.connect_to_self();
  Buffer to = rank_.make_buffer(receiver, 1000, 2);
  void* receive = rank_.post_receive(receiver, to, 1000);
  ASSERT_NE(receive, nullptr);
  EXPECT_EQ(rank_.net().close_send(sender), abi::kSuccess);
  EXPECT_EQ(rank_.finish(receive).result, abi::kRemoteError);
  EXPECT_THAT(warnings(), Contains(HasSubstr("flow from node a")));
  rank_.net().close_recv(receiver);
}

// In a network namespace with nothing but a loopback interface, which is not a port.
class PluginWithoutPorts : public testing::TestWithParam<int> {
 protected:
  PluginWithoutPorts() { ::setenv("CABLEWAY_PORTS", "not-here0", 1); }

  const World world_{"a"};
};

// A cablewayd that no job started, until the end of the test.
class HostsNode {
 public:
  HostsNode() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], kReadyFd);
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      ::execl(CABLEWAYD, CABLEWAYD, "--ready-fd=9", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    std::array<char, 6> ready{};
    std::size_t got = 0;
    for (ssize_t more = 1; more > 0 && got < ready.size(); got += static_cast<std::size_t>(more)) {
      more = std::max<ssize_t>(::read(ends[0], ready.data() + got, ready.size() - got), 0);
    }
    ::close(ends[0]);
    EXPECT_EQ(std::string(ready.data(), got), "ready\n");
  }
  ~HostsNode() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  HostsNode(const HostsNode&) = delete;
  HostsNode& operator=(const HostsNode&) = delete;

 private:
  static constexpr int kReadyFd = 9;
  pid_t pid_ = -1;
};

TEST_P(PluginWithoutPorts, ListenNamesWhatIsMissing) {
  const HostsNode node;
  Rank rank(GetParam());
  Handle handle{};
  void* comm = nullptr;
  EXPECT_NE(rank.net().listen(0, handle.data(), &comm), abi::kSuccess);
  EXPECT_EQ(comm, nullptr);
  EXPECT_THAT(warnings(), Contains(HasSubstr("node a has no cable port with an address to listen on")));
}

TEST_P(PluginWithoutPorts, ANamespaceWithoutCablesGetsNoNode) {
#ifdef CABLEWAY_EMULATED
  GTEST_SKIP() << "the emulator does not list interfaces";
#endif
  EXPECT_EQ(result_of_init(GetParam()), abi::kInvalidUsage);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("this network namespace has no cables (interfaces: lo"),
                                         HasSubstr("start the container with --network host"),
                                         HasSubstr("NCCL_NET=Socket NCCL_NET_PLUGIN=none"))));
  std::ifstream sockets("/proc/self/net/unix");
  const std::string all{std::istreambuf_iterator<char>(sockets), std::istreambuf_iterator<char>()};
  EXPECT_THAT(all, Not(HasSubstr(world_.runtime_dir("a")))) << "a node is listening";
  // In a namespace with a cable a job's node starts.
  world_.enter("a");
  EXPECT_EQ(result_of_init(GetParam()), abi::kSuccess);
}

INSTANTIATE_TEST_SUITE_P(Abi, PluginWithoutPorts, testing::Values(8, 9, 10, 11, 12),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

INSTANTIATE_TEST_SUITE_P(Abi, PluginFailure, testing::Values(8, 9, 10, 11, 12),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace cableway::nccl::test
