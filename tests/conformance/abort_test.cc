// Connections that are aborted half-way, as NCCL does when a job aborts: the aborting side returns at once, the other
// side gets an error.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Time limit for a few calls that do not wait for a peer, on a machine that is busy with other tests.
constexpr seconds kPrompt{4};

class AbortTest : public testing::TestWithParam<int> {
 protected:
  AbortTest() {
    world_.start("a");
    world_.start("b");
  }

  World world_{"a"};
  const std::string path_ = world_.path({"a", "b"});
};

TEST_P(AbortTest, AConnectionThatIsClosedBeforeItsAcceptIsAcceptedAndThenFails) {
  RankProcess receiver(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    test.receive();
    void* comm = rank.accept(listener);
    EXPECT_EQ(receive_message(rank, comm, 1000, 1).result, abi::kRemoteError);
    expect_failure("flow from node a (" + path_ + ")", World::found_at("b", "a"));
    EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
  });
  const Handle handle = receiver.receive_handle();
  RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) {
    EXPECT_EQ(rank.net().close_send(rank.connect(handle)), abi::kSuccess);
  }).finish();
  receiver.send("accept");
  receiver.finish();
}

TEST_P(AbortTest, AMissingAcceptNeitherFailsNorBlocksTheSender) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    test.send(to_message(rank.listen().first));
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) {
    void* comm = rank.connect(handle);
    Buffer buffer = rank.make_buffer(comm, 1 << 20, 1);
    const Posted posted = post_send(rank, comm, buffer);
    ASSERT_NE(posted.request, nullptr);
    const Outcome waiting = rank.finish(posted.request, seconds(2));
    EXPECT_EQ(waiting.result, abi::kSuccess);
    EXPECT_FALSE(waiting.done);
    EXPECT_THAT(warnings(), testing::IsEmpty());
    const auto begin = Clock::now();
    EXPECT_EQ(rank.net().deregister(comm, buffer.mhandle), abi::kSuccess);
    EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    EXPECT_LT(Clock::now() - begin, kPrompt);
    expect_warning("flow to node b (" + path_ + ") failed: its memory was deregistered while in use");
  }).finish();
  receiver.send("end");
  receiver.finish();
}

TEST_P(AbortTest, AListenCommThatClosesUnderAnUnacceptedConnectionEndsIt) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    test.receive();
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    test.send("closed");
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    test.send("connected");
    test.receive();
    EXPECT_EQ(send_until_failure(rank, comm, 1000).result, abi::kRemoteError);
    expect_warning("flow to node b (" + path_ +
                   ") failed: \"node b: its listen comm was closed before it was accepted\"");
    // Later connects get the reason.
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("no circuit " + path_ + ": node b: the process no longer listens for this connection");
  });
  EXPECT_EQ(sender.receive(), "connected");
  receiver.send("close");
  EXPECT_EQ(receiver.receive(), "closed");
  sender.send("send");
  sender.finish();
  receiver.send("end");
  receiver.finish();
}

TEST_P(AbortTest, AListenCommThatClosesWhileAPeerConnectsNeverLeavesItHanging) {
  constexpr int kRounds = kSlowBuild ? 20 : 100;
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    for (int round = 0; round < kRounds; ++round) {
      auto [handle, listener] = rank.listen();
      test.send(to_message(handle));
      test.receive();
      // Before, within and after the set-up, which takes some hundred microseconds.
      std::this_thread::sleep_for(std::chrono::microseconds(round % 20 * 50));
      EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    }
  });
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    for (int round = 0; round < kRounds; ++round) {
      const Handle handle = to_handle(test.receive());
      test.send("connecting");
      abi::Result result = abi::kSuccess;
      void* comm = rank.connect(handle, &result);
      if (comm != nullptr) {
        result = send_until_failure(rank, comm, 1000).result;
        EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
      }
      EXPECT_EQ(result, abi::kRemoteError) << "round " << round;
      // One warning for each, whichever way it ended.
      EXPECT_EQ(warnings().size(), static_cast<std::size_t>(round) + 1);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    sender.send(receiver.receive());
    receiver.send(sender.receive());
  }
  sender.finish();
  receiver.finish();
}

TEST_P(AbortTest, AProcessThatExitsWithEverythingOpenEndsAtOnceAndItsPeerIsNotified) {
  constexpr std::size_t kBytes = 1U << 20;
  RankProcess receiver(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    test.send("accepted");
    // The message may arrive before the sender's process exits.
    Outcome outcome = receive_message(rank, comm, kBytes, 1);
    if (outcome.done) outcome = receive_message(rank, comm, kBytes, 1);
    EXPECT_EQ(outcome.result, abi::kRemoteError);
    expect_failure("flow from node a (" + path_ + ")", World::found_at("b", "a"));
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    Buffer& buffer = *new Buffer(rank.make_buffer(comm, kBytes, 1));  // NCCL does not free its buffers at exit either
    EXPECT_NE(post_send(rank, comm, buffer).request, nullptr);
    EXPECT_NE(rank.listen().second, nullptr);
    void* half_open = nullptr;
    Handle again = handle;
    EXPECT_EQ(rank.net().connect(0, again.data(), &half_open), abi::kSuccess);
    test.receive();
    std::exit(0);
  });
  EXPECT_EQ(receiver.receive(), "accepted");
  sender.send("exit");
  sender.finish(kPrompt + seconds(4));
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, AbortTest, every_abi(), abi_name);

class FinalizeTest : public AbortTest {};

TEST_P(FinalizeTest, WithAnUnansweredConnectReturnsAndThePeerIsUnharmed) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    // The aborted connections come first, or were dropped while they arrived.
    for (bool whole = false; !whole;) {
      void* comm = rank.accept(listener);
      whole = receive_message(rank, comm, 1000, 3).done;
      EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
    }
  });
  const Handle handle = receiver.receive_handle();
  receiver.stop();
  RankProcess aborting(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    Handle copies[3] = {handle, handle, handle};
    void* comm = nullptr;
    for (int turn = 0; turn < 200; ++turn) {
      for (Handle& copy : copies) EXPECT_EQ(rank.net().connect(0, copy.data(), &comm), abi::kSuccess);
      EXPECT_EQ(comm, nullptr);
      std::this_thread::sleep_for(milliseconds(1));
    }
    // finalize, in Rank's destructor, ends this process.
    test.send("finalize");
  });
  EXPECT_EQ(aborting.receive(), "finalize");
  aborting.finish(kPrompt + seconds(4));
  receiver.resume();
  RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) {
    void* comm = rank.connect(handle);
    EXPECT_TRUE(send_message(rank, comm, 1000, 3).done);
    EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
  }).finish();
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, FinalizeTest, abis_with_finalize(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
