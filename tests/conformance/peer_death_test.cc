// Peers that are killed: the other end fails soon, with a warning that names the node. Peers that are only stopped:
// nothing fails, and the flow resumes with them.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr std::size_t kDeathBytes = 16 << 20;  // more than all buffers on the path hold
constexpr seconds kSoon{5};

// A sender on node a; its receiver on node b, or on node c beyond the relay b.
class PeerDeathTest : public testing::TestWithParam<int> {
 protected:
  PeerDeathTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
  }

  std::string path_to(const std::string& node) const {
    return node == "b" ? world_.path({"a", "b"}) : world_.path({"a", "b", "c"});
  }

  // The receiver dies with a message half received; the sender's next test() fails.
  void kill_receiver_on(const std::string& node, const std::string& reason) {
    RankProcess receiver(world_, node, GetParam(), [](Rank& rank, Line& test) {
      auto [handle, listener] = rank.listen();
      test.send(to_message(handle));
      void* comm = rank.accept(listener);
      EXPECT_TRUE(receive_message(rank, comm, 1000, 1).done);
      Buffer buffer = rank.make_buffer(comm, kDeathBytes, 2);
      EXPECT_NE(post_receive(rank, comm, buffer).request, nullptr);
      test.send("ready");
      test.receive();
    });
    const Handle handle = receiver.receive_handle();
    RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
      void* comm = rank.connect(handle);
      EXPECT_TRUE(send_message(rank, comm, 1000, 1).done);
      Buffer buffer = rank.make_buffer(comm, kDeathBytes, 3);
      void* request = post_send(rank, comm, buffer).request;
      ASSERT_NE(request, nullptr);
      EXPECT_FALSE(rank.finish(request, std::chrono::milliseconds(200)).done);
      test.send("sending");
      test.receive();
      const auto begin = Clock::now();
      EXPECT_EQ(rank.finish(request).result, abi::kRemoteError);
      EXPECT_LT(Clock::now() - begin, kSoon);
      expect_failure("flow to node " + node + " (" + path_to(node) + ")", reason);
      // It stays failed, and warns only once.
      const std::size_t reported = warnings().size();
      EXPECT_EQ(post_send(rank, comm, buffer).result, abi::kRemoteError);
      EXPECT_EQ(warnings().size(), reported);
      EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    });
    EXPECT_EQ(receiver.receive(), "ready");
    EXPECT_EQ(sender.receive(), "sending");
    receiver.kill();
    sender.send("look");
    sender.finish();
  }

  // The sender dies in the middle of a message, or before one that the receiver waits for; the receiver's next test()
  // fails for one of the reasons.
  void kill_sender_towards(const std::string& node, bool within_message, const std::vector<std::string>& reasons) {
    RankProcess receiver(world_, node, GetParam(), [&](Rank& rank, Line& test) {
      auto [handle, listener] = rank.listen();
      test.send(to_message(handle));
      void* comm = rank.accept(listener);
      Buffer buffer = rank.make_buffer(comm, kDeathBytes, 2);
      void* request = post_receive(rank, comm, buffer).request;
      ASSERT_NE(request, nullptr);
      test.send("ready");
      test.receive();
      const auto begin = Clock::now();
      EXPECT_EQ(rank.finish(request).result, abi::kRemoteError);
      EXPECT_LT(Clock::now() - begin, kSoon);
      const std::string flow = "flow from node a (" + path_to(node) + ")";
      EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
        return testing::Value(warnings(), testing::Contains(failed_at(flow, reason)));
      })) << testing::PrintToString(warnings());
      EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
    });
    const Handle handle = receiver.receive_handle();
    RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
      void* comm = rank.connect(handle);
      Buffer buffer = rank.make_buffer(comm, kDeathBytes, 3);
      if (within_message) {
        void* request = post_send(rank, comm, buffer).request;
        EXPECT_FALSE(rank.finish(request, std::chrono::milliseconds(200)).done);
      }
      test.send("sending");
      test.receive();
    });
    EXPECT_EQ(receiver.receive(), "ready");
    EXPECT_EQ(sender.receive(), "sending");
    sender.kill();
    receiver.send("look");
    receiver.finish();
  }

  World world_{"a"};
};

TEST_P(PeerDeathTest, AKilledNeighbouringReceiverIsNamed) {
  kill_receiver_on("b", World::found_at("a", "b"));
}

TEST_P(PeerDeathTest, AKilledReceiverBeyondARelayIsNamedByTheRelay) {
  kill_receiver_on("c", World::found_at("b", "c"));
}

TEST_P(PeerDeathTest, AKilledNeighbouringSenderIsNamed) {
  kill_sender_towards("b", false, {World::found_at("b", "a")});
}

TEST_P(PeerDeathTest, AKilledSenderBeyondARelayIsNamedByTheRelay) {
  kill_sender_towards("c", false, {World::found_at("b", "a")});
}

TEST_P(PeerDeathTest, ANeighbouringSenderKilledWithinAMessageIsNamed) {
  kill_sender_towards("b", true, {World::found_at("b", "a")});
}

TEST_P(PeerDeathTest, ASenderKilledWithinAMessageIsReportedAtOrBeforeTheRelay) {
  // A TCP relay in the middle of a chunk cannot send the reason. One that is between two chunks names the sender, and
  // so does every RDMA relay, which has whole chunks only.
  kill_sender_towards(
      "c", true,
      {World::found_at("c", "b") +
           "the peer closed the connection in the middle of a chunk: that node, or one before it on the "
           "path, is gone",
       // A connection whose end left something unread is reset.
       World::found_at("c", "b") +
           "cannot read from the peer in the middle of a chunk: that node, or one before it on the path, is gone",
       World::found_at("b", "a")});
}

TEST_P(PeerDeathTest, AStoppedPeerFailsNothingAndTheFlowResumesWithIt) {
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, comm, kDeathBytes, 1).done);
    EXPECT_TRUE(receive_message(rank, comm, kDeathBytes, 2).done);
    EXPECT_THAT(warnings(), testing::IsEmpty());
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    test.send("connected");
    test.receive();
    Buffer buffer = rank.make_buffer(comm, kDeathBytes, 1);
    void* request = post_send(rank, comm, buffer).request;
    ASSERT_NE(request, nullptr);
    const Outcome meanwhile = rank.finish(request, seconds(2));
    EXPECT_EQ(meanwhile.result, abi::kSuccess);
    EXPECT_FALSE(meanwhile.done);
    test.send("waiting");
    EXPECT_TRUE(rank.finish(request, seconds(30)).done);
    // Now this end is the one that is stopped.
    test.send("sent");
    test.receive();
    EXPECT_TRUE(send_message(rank, comm, kDeathBytes, 2).done);
    EXPECT_THAT(warnings(), testing::IsEmpty());
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "connected");
  receiver.stop();
  sender.send("send");
  EXPECT_EQ(sender.receive(), "waiting");
  receiver.resume();
  EXPECT_EQ(sender.receive(), "sent");
  sender.stop();
  sender.send("send");
  std::this_thread::sleep_for(seconds(1));
  sender.resume();
  sender.send("end");
  receiver.send("end");
  sender.finish();
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, PeerDeathTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
