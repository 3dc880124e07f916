// A node's daemon that restarts: flows that do not pass through it are not affected, those that do fail with a reason,
// and ranks connect to it again when they need it.
#include <chrono>
#include <thread>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr std::size_t kRestartBytes = 300'000;

class NodeRestartTest : public testing::TestWithParam<int> {
 protected:
  NodeRestartTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
  }

  World world_{"a"};
};

TEST_P(NodeRestartTest, OfTheOnlyRelayIsAPauseForWhatItRelayed) {
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      EXPECT_TRUE(receive_message(rank, comm, kRestartBytes, seed).done) << seed;
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    EXPECT_TRUE(send_message(rank, comm, kRestartBytes, 1).done);
    test.send("flows");
    EXPECT_EQ(test.receive(), "killed");
    test.send("sends");
    EXPECT_TRUE(send_message(rank, comm, kRestartBytes, 2).done);
    EXPECT_TRUE(send_message(rank, comm, kRestartBytes, 3).done);
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
  EXPECT_EQ(sender.receive(), "flows");
  world_.kill("b");
  sender.send("killed");
  EXPECT_EQ(sender.receive(), "sends");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  world_.start("b");
  sender.finish();
  receiver.finish();
}

TEST_P(NodeRestartTest, OfARelayFailsWhatItRelayedAndNothingElse) {
  world_.fail_at_once();
  const std::string relayed = world_.path({"a", "b", "c"});
  // Beyond the relay.
  RankProcess far(world_, "c", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* before = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, before, kRestartBytes, 1).done);
    EXPECT_EQ(receive_message(rank, before, kRestartBytes, 2).result, abi::kRemoteError);
    expect_failure("flow from node a (" + relayed + ")", World::found_at("c", "b"));
    void* after = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, after, kRestartBytes, 3).done);
    test.receive();
  });
  const Handle to_far = far.receive_handle();
  // On the relay's own node: its flow goes from process to process.
  RankProcess near(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, comm, kRestartBytes, 1).done);
    EXPECT_TRUE(receive_message(rank, comm, kRestartBytes, 2).done);
    // Its session ended with the node. A request for a new path must still succeed.
    void* back = connect_when_possible(rank, to_handle(test.receive()));
    ASSERT_NE(back, nullptr);
    EXPECT_TRUE(send_message(rank, back, kRestartBytes, 3).done);
    // On a slow machine a restarted node may take long to find its neighbours.
    EXPECT_THAT(warnings(), testing::Each(testing::AnyOf(testing::HasSubstr("path to node a"),
                                                         testing::HasSubstr("knows of no node \"a\""))));
    test.receive();
  });
  const Handle to_near = near.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* near_comm = rank.connect(to_near);
    void* far_comm = rank.connect(to_far);
    EXPECT_TRUE(send_message(rank, near_comm, kRestartBytes, 1).done);
    EXPECT_TRUE(send_message(rank, far_comm, kRestartBytes, 1).done);
    test.send("flows");
    test.receive();
    EXPECT_EQ(send_until_failure(rank, far_comm, kRestartBytes).result, abi::kRemoteError);
    expect_failure("flow to node c (" + relayed + ")", World::found_at("a", "b"));
    EXPECT_TRUE(send_message(rank, near_comm, kRestartBytes, 2).done);
    void* again = connect_when_possible(rank, to_far);
    ASSERT_NE(again, nullptr);
    EXPECT_TRUE(send_message(rank, again, kRestartBytes, 3).done);
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    EXPECT_TRUE(receive_message(rank, rank.accept(listener), kRestartBytes, 3).done);
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "flows");
  world_.kill("b");
  world_.start("b");
  sender.send("restarted");
  near.send(sender.receive());
  for (RankProcess* process : {&sender, &near, &far}) process->send("end");
  for (RankProcess* process : {&sender, &near, &far}) process->finish();
}

TEST_P(NodeRestartTest, OfTheRanksOwnNodeLeavesItsFlowsAloneAndIsReconnected) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* first = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, first, kRestartBytes, 1).done);
    EXPECT_TRUE(receive_message(rank, first, kRestartBytes, 2).done);
    EXPECT_TRUE(receive_message(rank, rank.accept(listener), kRestartBytes, 3).done);
    EXPECT_TRUE(receive_message(rank, first, kRestartBytes, 4).done);
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* first = rank.connect(handle);
    EXPECT_TRUE(send_message(rank, first, kRestartBytes, 1).done);
    test.send("flows");
    EXPECT_EQ(test.receive(), "killed");
    EXPECT_TRUE(send_message(rank, first, kRestartBytes, 2).done);
    // The node's end may reach the session after the first connect, which then has another reason than all later ones.
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("connect: node a is no longer running (no node runs here): restart cablewayd");
    test.send("refused");
    EXPECT_EQ(test.receive(), "restarted");
    void* again = connect_when_possible(rank, handle);
    ASSERT_NE(again, nullptr);
    EXPECT_TRUE(send_message(rank, again, kRestartBytes, 3).done);
    EXPECT_TRUE(send_message(rank, first, kRestartBytes, 4).done);
  });
  EXPECT_EQ(sender.receive(), "flows");
  world_.kill("a");
  sender.send("killed");
  EXPECT_EQ(sender.receive(), "refused");
  world_.start("a");
  sender.send("restarted");
  sender.finish();
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, NodeRestartTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
