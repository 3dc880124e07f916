// Connections that are given up half-way, as NCCL does when a job aborts: the side that gives up returns at once, the
// other one hears of it.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What a call or two may take that wait for nobody, on a machine that is busy with other tests.
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
    test.say(to_words(handle));
    test.hear();
    void* comm = rank.accept(listener);
    EXPECT_EQ(receive_message(rank, comm, 1000, 1).result, abi::kRemoteError);
    expect_told("flow from node a (" + path_ + ") failed: " + World::found_at("b", "a"));
    EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
  });
  const Handle handle = receiver.hear_handle();
  RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) {
    EXPECT_EQ(rank.net().close_send(rank.connect(handle)), abi::kSuccess);
  }).finish();
  receiver.say("accept");
  receiver.finish();
}

TEST_P(AbortTest, AnAcceptThatNeverComesFailsNothingAndHoldsNothingUp) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    test.say(to_words(rank.listen().first));
    test.hear();
  });
  const Handle handle = receiver.hear_handle();
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
    expect_told("flow to node b (" + path_ + ") failed: its memory was deregistered while in use");
  }).finish();
  receiver.say("end");
  receiver.finish();
}

TEST_P(AbortTest, AListenCommThatClosesUnderAnUnacceptedConnectionEndsIt) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.say(to_words(handle));
    test.hear();
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    test.say("closed");
    test.hear();
  });
  const Handle handle = receiver.hear_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    test.say("connected");
    test.hear();
    EXPECT_EQ(send_until_failure(rank, comm, 1000).result, abi::kRemoteError);
    expect_told("flow to node b (" + path_ + ") failed: " + World::found_at("a", "b"));
    // And what comes later is told why.
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_told("no circuit " + path_ + ": node b: the process no longer listens for this connection");
  });
  EXPECT_EQ(sender.hear(), "connected");
  receiver.say("close");
  EXPECT_EQ(receiver.hear(), "closed");
  sender.say("send");
  sender.finish();
  receiver.say("end");
  receiver.finish();
}

TEST_P(AbortTest, AListenCommThatClosesWhileAPeerConnectsNeverLeavesItHanging) {
  constexpr int kRounds = kSlowed ? 20 : 100;
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    for (int round = 0; round < kRounds; ++round) {
      auto [handle, listener] = rank.listen();
      test.say(to_words(handle));
      test.hear();
      // Before, within and after the set-up, which takes some hundred microseconds.
      std::this_thread::sleep_for(std::chrono::microseconds(round % 20 * 50));
      EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    }
  });
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    for (int round = 0; round < kRounds; ++round) {
      const Handle handle = to_handle(test.hear());
      test.say("connecting");
      abi::Result result = abi::kSuccess;
      void* comm = rank.connect(handle, &result);
      if (comm != nullptr) {
        result = send_until_failure(rank, comm, 1000).result;
        EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
      }
      EXPECT_EQ(result, abi::kRemoteError) << "round " << round;
      // One line for each, whichever way it ended.
      EXPECT_EQ(warnings().size(), static_cast<std::size_t>(round) + 1);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    sender.say(receiver.hear());
    receiver.say(sender.hear());
  }
  sender.finish();
  receiver.finish();
}

TEST_P(AbortTest, AProcessThatExitsWithEverythingOpenEndsAtOnceAndItsPeerIsTold) {
  RankProcess receiver(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.say(to_words(handle));
    void* comm = rank.accept(listener);
    test.say("accepted");
    EXPECT_EQ(receive_message(rank, comm, 1000, 1).result, abi::kRemoteError);
    expect_told("flow from node a (" + path_ + ") failed: " + World::found_at("b", "a"));
  });
  const Handle handle = receiver.hear_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    Buffer& buffer = *new Buffer(rank.make_buffer(comm, 1 << 20, 1));  // NCCL's are not freed at exit either
    EXPECT_NE(post_send(rank, comm, buffer).request, nullptr);
    EXPECT_NE(rank.listen().second, nullptr);
    void* half_open = nullptr;
    Handle again = handle;
    EXPECT_EQ(rank.net().connect(0, again.data(), &half_open), abi::kSuccess);
    test.hear();
    std::exit(0);
  });
  EXPECT_EQ(receiver.hear(), "accepted");
  sender.say("exit");
  sender.finish(kPrompt + seconds(4));
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, AbortTest, every_abi(), abi_name);

class FinalizeTest : public AbortTest {};

TEST_P(FinalizeTest, WithAConnectThatNobodyAnswersReturnsAndThePeerIsUnharmed) {
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.say(to_words(handle));
    // The connections that were given up come first, or were dropped while they arrived.
    for (bool whole = false; !whole;) {
      void* comm = rank.accept(listener);
      whole = receive_message(rank, comm, 1000, 3).done;
      EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
    }
  });
  const Handle handle = receiver.hear_handle();
  receiver.stop();
  RankProcess giving_up(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    Handle copies[3] = {handle, handle, handle};
    void* comm = nullptr;
    for (int turn = 0; turn < 200; ++turn) {
      for (Handle& copy : copies) EXPECT_EQ(rank.net().connect(0, copy.data(), &comm), abi::kSuccess);
      EXPECT_EQ(comm, nullptr);
      std::this_thread::sleep_for(milliseconds(1));
    }
    // finalize, in Rank's destructor, ends this process.
    test.say("finalize");
  });
  EXPECT_EQ(giving_up.hear(), "finalize");
  giving_up.finish(kPrompt + seconds(4));
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
