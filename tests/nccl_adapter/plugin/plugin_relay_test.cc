// Two ranks on nodes without a common cable: every byte crosses the relay in between. Then the relay, the peer or the
// path fails, or untrusted peers send data to every open port.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t kBytes = 3 << 20;

// The receiving rank on node c, in its own process. It passes its listen handle through a pipe.
class Receiver {
 public:
  // `act` runs in the child with the rank and its receive comm; true: success.
  Receiver(const World& world, int version, const std::function<bool(Rank&, void*)>& act) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      world.enter("c");
      Rank rank(version);
      auto [handle, listener] = rank.listen();
      if (::write(ends[1], handle.data(), handle.size()) != static_cast<ssize_t>(handle.size())) ::_exit(2);
      void* comm = rank.accept(listener);
      ::_exit(act(rank, comm) ? 0 : 1);
    }
    ::close(ends[1]);
    EXPECT_EQ(::read(ends[0], handle_.data(), handle_.size()), static_cast<ssize_t>(handle_.size()));
    ::close(ends[0]);
  }
  ~Receiver() {
    if (pid_ > 0) kill();
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const Handle& handle() const { return handle_; }
  pid_t pid() const { return pid_; }
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int exit_status() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  Handle handle_{};
};

bool receive_one(Rank& rank, void* comm) {
  Buffer to = rank.make_buffer(comm, kBytes, 1);
  const Outcome outcome = rank.finish(rank.post_receive(comm, to, kBytes));
  rank.net().close_recv(comm);
  return outcome.done && to.bytes == pattern(kBytes, 42);
}

// Receives one message, then waits for a second one that the test prevents.
bool receive_then_wait(Rank& rank, void* comm) {
  Buffer to = rank.make_buffer(comm, kBytes, 1);
  if (!rank.finish(rank.post_receive(comm, to, kBytes)).done) return false;
  std::this_thread::sleep_for(std::chrono::minutes(1));
  return false;
}

class PluginRelay : public testing::TestWithParam<int> {
 protected:
  PluginRelay() {
    world_.start("b");
    world_.start("c");
  }

  // Sends one message and fails the test unless it arrives.
  void send_one(Rank& rank, void* comm, Buffer& from) {
    void* request = rank.post_send(comm, from, kBytes);
    ASSERT_NE(request, nullptr);
    ASSERT_TRUE(rank.finish(request).done);
  }

  World world_{"a"};
};

TEST_P(PluginRelay, BytesCrossTheRelayWithoutLosingTheLastAcknowledgement) {
  Receiver receiver(world_, GetParam(), receive_one);
  Rank rank(GetParam());
  void* comm = rank.connect(receiver.handle());
  Buffer from = rank.make_buffer(comm, kBytes, 42);
  // The receiver closes right after its message, while the acknowledgement is still in flight through the relay.
  send_one(rank, comm, from);
  EXPECT_EQ(receiver.exit_status(), 0);
  rank.net().close_send(comm);
}

TEST_P(PluginRelay, AKilledPeerFailsTheRequestAndIsNamed) {
  Receiver receiver(world_, GetParam(), receive_then_wait);
  Rank rank(GetParam());
  void* comm = rank.connect(receiver.handle());
  Buffer from = rank.make_buffer(comm, kBytes, 42);
  send_one(rank, comm, from);
  void* request = rank.post_send(comm, from, kBytes);
  ASSERT_NE(request, nullptr);
  receiver.kill();
  EXPECT_EQ(rank.finish(request, std::chrono::seconds(10)).result, abi::kRemoteError);
  EXPECT_THAT(warnings(),
              Contains(HasSubstr(
                  "flow to node c (a -a.lo-b.lo-> b -b.lo-c.lo-> c) failed: its other end has ended (seen here as: " +
                  World::found_at("b", "c"))));
  rank.net().close_send(comm);
}

TEST_P(PluginRelay, AKilledRelayFailsTheRequestAndThePathIsNamed) {
  world_.fail_at_once();
  Receiver receiver(world_, GetParam(), receive_then_wait);
  Rank rank(GetParam());
  void* comm = rank.connect(receiver.handle());
  Buffer from = rank.make_buffer(comm, kBytes, 42);
  send_one(rank, comm, from);
  void* request = rank.post_send(comm, from, kBytes);
  world_.kill("b");
  EXPECT_EQ(rank.finish(request, std::chrono::seconds(10)).result, abi::kRemoteError);
  EXPECT_THAT(warnings(), Contains(HasSubstr("flow to node c (a -a.lo-b.lo-> b -b.lo-c.lo-> c) failed")));
  rank.net().close_send(comm);
}

TEST_P(PluginRelay, AMissingPeerIsNamed) {
  Receiver receiver(world_, GetParam(), receive_one);
  const Handle handle = receiver.handle();
  receiver.kill();
  Rank rank(GetParam());
  abi::Result result = abi::kSuccess;
  EXPECT_EQ(rank.connect(handle, &result), nullptr);
  EXPECT_EQ(result, abi::kRemoteError);
  // Node b may not have been told of the process before that was killed.
  EXPECT_THAT(warnings(),
              Contains(AnyOf(AllOf(HasSubstr("node b cannot reach node c"), HasSubstr("over cable b.lo-c.lo")),
                             ContainsRegex("node b does not connect to TCP port [0-9]+ of node c"))));
}

// Connects to `door` and sends invalid data.
void send_garbage(const World::Door& door, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(door.port);
    ::inet_pton(AF_INET, door.address.c_str(), &to.sin_addr);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      const std::vector<std::byte> noise =
          pattern(static_cast<std::size_t>(1 + round * 37 % 3000), static_cast<std::uint64_t>(round));
      static_cast<void>(!::send(socket, noise.data(), noise.size(), MSG_NOSIGNAL));
    }
    ::close(socket);
  }
}

TEST_P(PluginRelay, GarbageOnEveryPortIsHarmless) {
  Receiver receiver(world_, GetParam(), receive_one);
  Rank rank(GetParam());
  void* comm = rank.connect(receiver.handle());
  Buffer from = rank.make_buffer(comm, kBytes, 42);
  std::size_t doors = 0;
  for (const char* node : {"a", "b", "c"}) {
    for (const World::Door& door : world_.doors(node)) {
      send_garbage(door, 50);
      ++doors;
    }
  }
  // The relay ports of three nodes, one of them at two addresses, and the data ports of two ranks.
  EXPECT_EQ(doors, 6U);
  send_one(rank, comm, from);
  EXPECT_EQ(receiver.exit_status(), 0);
  rank.net().close_send(comm);
}

INSTANTIATE_TEST_SUITE_P(Abi, PluginRelay, testing::Values(8, 9, 10, 11, 12),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace cableway::nccl::test
