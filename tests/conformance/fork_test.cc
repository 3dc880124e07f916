// fork() after connecting. Whatever the child does, it affects neither its parent's flows nor what their peers see when
// the parent closes or dies.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kForkBytes = 500'000;
constexpr seconds kForkPrompt{5};

// A child of a rank's process. It ends within a minute even if it hangs.
class Child {
 public:
  explicit Child(const std::function<void()>& act) : pid_(::fork()) {
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ != 0) return;
    ::alarm(60);
    act();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ~Child() {
    if (pid_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void end() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void expect_success() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child's wait status " << status;
  }

 private:
  pid_t pid_;
};

void sleep_for_long() {
  std::this_thread::sleep_for(seconds(50));
}

// The number of this process's sockets that lead to anything but the test itself.
int live_sockets() {
  int live = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) continue;
    sockaddr_un peer{};
    socklen_t peer_size = sizeof peer;
    const bool connected = ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
    const bool named = connected && own.ss_family == AF_UNIX && peer_size > sizeof peer.sun_family;
    if (own.ss_family != AF_UNIX || named) ++live;
  }
  return live;
}

// This process's RDMA device resources: open descriptors, and mappings of device files.
std::vector<std::string> rdma_device_resources() {
  constexpr std::string_view kOfADevice = "infiniband";
  std::vector<std::string> held;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string name = std::filesystem::read_symlink(entry.path(), gone).string();
    if (name.find(kOfADevice) != std::string::npos) held.push_back(name);
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(kOfADevice) != std::string::npos) held.push_back(line);
  }
  return held;
}

bool hops_are_over_rdma() {
  const char* const transport = std::getenv("CABLEWAY_TRANSPORT");
  return transport != nullptr && std::string_view(transport) == "verbs";
}

// The number on this host's devices, in any process.
int connected_queue_pairs() {
  const std::unique_ptr<FILE, int (*)(FILE*)> list(::popen("rdma resource show qp", "r"), &::pclose);
  int connected = 0;
  std::array<char, 512> line{};
  while (list != nullptr && std::fgets(line.data(), line.size(), list.get()) != nullptr) {
    if (std::string_view(line.data()).find(" type RC ") != std::string_view::npos) ++connected;
  }
  return connected;
}

// None of ranks that have ended, nor of one that was killed.
void expect_no_queue_pairs() {
  const auto until = Clock::now() + kForkPrompt;
  while (connected_queue_pairs() > 0 && Clock::now() < until) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(connected_queue_pairs(), 0);
}

class ForkTest : public testing::TestWithParam<int> {
 protected:
  ForkTest() {
    world_.start("a");
    world_.start("b");
  }

  // A rank on node a sends to one on node b, forks between two messages, and then closes or is killed by the test.
  // The receiver must see the end while the child may still run.
  void run(const std::function<void(Rank&, void*, Line&)>& act, bool killed) {
    RankProcess receiver(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
      auto [handle, listener] = rank.listen();
      test.send(to_message(handle));
      void* comm = rank.accept(listener);
      EXPECT_TRUE(receive_message(rank, comm, kForkBytes, 1).done);
      EXPECT_TRUE(receive_message(rank, comm, kForkBytes, 2).done);
      test.send("received");
      test.receive();
      const auto begin = Clock::now();
      EXPECT_EQ(receive_message(rank, comm, kForkBytes, 3).result, abi::kRemoteError);
      EXPECT_LT(Clock::now() - begin, kForkPrompt);
      expect_failure("flow from node a (" + world_.path({"a", "b"}) + ")", World::found_at("b", "a"));
      test.send("failed");
    });
    const Handle handle = receiver.receive_handle();
    RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
      void* comm = rank.connect(handle);
      EXPECT_TRUE(send_message(rank, comm, kForkBytes, 1).done);
      act(rank, comm, test);
    });
    EXPECT_EQ(receiver.receive(), "received");
    EXPECT_EQ(sender.receive(), "forked");
    const pid_t child = std::stoi(sender.receive());
    if (killed) {
      EXPECT_TRUE(!hops_are_over_rdma() || connected_queue_pairs() > 0);
      sender.kill();
    } else {
      sender.send("close");
      EXPECT_EQ(sender.receive(), "closed");
    }
    receiver.send("look");
    EXPECT_EQ(receiver.receive(), "failed");
    receiver.finish();
    if (killed) {
      ASSERT_GT(child, 0);
      EXPECT_EQ(::kill(child, 0), 0) << "the child did not outlive its parent";
      if (hops_are_over_rdma()) expect_no_queue_pairs();
      ::kill(child, SIGKILL);
      return;
    }
    sender.send("end");
    sender.finish();
  }

  // What the sender does in the parent after its first message.
  static void continue_in_parent(Rank& rank, void* comm, Line& test, pid_t child) {
    EXPECT_TRUE(send_message(rank, comm, kForkBytes, 2).done);
    test.send("forked");
    test.send(std::to_string(child));
    test.receive();
    EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    test.send("closed");
    test.receive();
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }

  World world_{"a"};
};

TEST_P(ForkTest, AChildThatLivesOnDoesNotHideItsParentsClose) {
  run(
      [](Rank& rank, void* comm, Line& test) {
        const Child child(sleep_for_long);
        continue_in_parent(rank, comm, test, child.pid());
      },
      false);
}

TEST_P(ForkTest, AChildThatLivesOnDoesNotHideItsParentsDeath) {
  run(
      [](Rank& rank, void* comm, Line& test) {
        const Child child(sleep_for_long);
        continue_in_parent(rank, comm, test, child.pid());
      },
      true);
}

// The kernel keeps a process's queue pairs, and the memory that they pin, until no process has the device open.
TEST_P(ForkTest, AChildThatLivesOnHoldsNoneOfItsParentsRdmaDevices) {
  if (!hops_are_over_rdma()) GTEST_SKIP() << "hops are over TCP here";
  run(
      [](Rank& rank, void* comm, Line& test) {
        EXPECT_THAT(rdma_device_resources(), testing::Not(testing::IsEmpty()));
        Child inspects([] { EXPECT_THAT(rdma_device_resources(), testing::IsEmpty()); });
        inspects.expect_success();
        continue_in_parent(rank, comm, test, 0);
      },
      false);
}

TEST_P(ForkTest, AChildThatExecsDoesNotHideItsParentsClose) {
  run(
      [](Rank& rank, void* comm, Line& test) {
        const Child child([] { ::execlp("sleep", "sleep", "50", nullptr); });
        continue_in_parent(rank, comm, test, child.pid());
      },
      false);
}

TEST_P(ForkTest, AChildThatExitsLeavesTheFlowAlone) {
  run(
      [](Rank& rank, void* comm, Line& test) {
        Child at_once([] { ::_exit(0); });
        at_once.expect_success();
        continue_in_parent(rank, comm, test, 0);
      },
      false);
}

TEST_P(ForkTest, AChildThatRunsExitHandlersLeavesTheFlowAlone) {
  run(
      [](Rank& rank, void* comm, Line& test) {
        // As objects that own a communicator do in their destructors.
        Child with_handlers([&] {
          static Rank* const global = &rank;
          static void* const flow = comm;
          std::atexit([] {
            static_cast<void>(global->net().close_send(flow));
            static_cast<void>(global->net().finalize());
          });
          std::exit(0);
        });
        with_handlers.expect_success();
        continue_in_parent(rank, comm, test, 0);
      },
      false);
}

// Every call of the child is refused with a warning.
void expect_refusals(Rank& rank, void* sender, void* receiver, void* listener, void* request, Handle handle) {
  const auto refused = [](abi::Result result, const char* call) {
    EXPECT_EQ(result, abi::kInvalidUsage) << call;
    const std::vector<std::string> reported = warnings();
    ASSERT_FALSE(reported.empty()) << call;
    EXPECT_THAT(reported.back(), testing::HasSubstr("this process was forked from one that uses Cableway"));
  };
  collperf::NetPlugin& net = rank.net();
  std::byte memory[64] = {};
  void* out = memory;
  Handle own{};
  int done = -1;
  int bytes = 0;
  collperf::DeviceProperties device;
  EXPECT_EQ(net.get_properties(0, &device), abi::kInvalidUsage);  // NCCL gives it no logger
  refused(net.listen(0, own.data(), &out), "listen");
  EXPECT_EQ(out, nullptr);
  refused(net.connect(0, handle.data(), &out), "connect");
  refused(net.accept(listener, &out), "accept");
  refused(net.register_host_memory(sender, memory, sizeof memory, &out), "regMr");
  refused(net.isend(sender, memory, sizeof memory, nullptr, &out), "isend");
  EXPECT_EQ(out, nullptr);
  refused(net.irecv(receiver, memory, sizeof memory, nullptr, &out), "irecv");
  refused(net.test(request, &done, &bytes), "test");
  EXPECT_EQ(done, 0);
  EXPECT_EQ(net.close_send(sender), abi::kSuccess);
  EXPECT_EQ(net.close_recv(receiver), abi::kSuccess);
  EXPECT_EQ(net.close_listen(listener), abi::kSuccess);
  EXPECT_EQ(net.finalize(), abi::kSuccess);
}

TEST_P(ForkTest, AChildHoldsNoConnectionAndIsRefusedEveryCall) {
  RankProcess(world_, "a", GetParam(), [](Rank& rank, Line&) {
    // No structured binding: a lambda below captures both.
    const std::pair<Handle, void*> listening = rank.listen();
    const Handle& handle = listening.first;
    void* listener = listening.second;
    void* sender = rank.connect(handle);
    void* receiver = rank.accept(listener);
    Buffer buffer = rank.make_buffer(receiver, kForkBytes, 9);
    void* request = post_receive(rank, receiver, buffer).request;
    ASSERT_NE(request, nullptr);
    EXPECT_GE(live_sockets(), 4);  // listener, session, the flow's two ends
    Child child([&] {
      EXPECT_EQ(live_sockets(), 0);
      const auto begin = Clock::now();
      expect_refusals(rank, sender, receiver, listener, request, handle);
      EXPECT_LT(Clock::now() - begin, kForkPrompt);
    });
    child.expect_success();
    // Everything that was refused in the child still works here.
    Buffer from = rank.make_buffer(sender, kForkBytes, 4);
    void* sending = post_send(rank, sender, from).request;
    ASSERT_NE(sending, nullptr);
    EXPECT_TRUE(finish_both(rank, sending, request));
    EXPECT_TRUE(buffer.bytes == from.bytes);
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }).finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, ForkTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
