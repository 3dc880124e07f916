// More of everything than the limits: refused with a reason or "not ready", and accepted again when there is room.
#include <sys/resource.h>
#include <unistd.h>

#include <deque>
#include <vector>

#include "tests/conformance/ranks/process_footprint.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

class LimitsTest : public testing::TestWithParam<int> {
 protected:
  LimitsTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
  }

  World world_{"a"};
};

TEST_P(LimitsTest, MoreRequestsThanMayBeOutstandingAreNotReadyAndNoFailure) {
  constexpr std::size_t kBytes = 100'000;
  constexpr int kMessages = 3 * abi::kMaxRequests;
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    test.receive();
    std::deque<Buffer> buffers;
    std::deque<void*> requests;
    for (int received = 0, posted = 0; received < kMessages; ++received) {
      while (posted < kMessages && requests.size() < abi::kMaxRequests) {
        buffers.push_back(rank.make_buffer(comm, kBytes, 9));
        requests.push_back(post_receive(rank, comm, buffers.back()).request);
        ASSERT_NE(requests.back(), nullptr) << posted;
        ++posted;
      }
      if (requests.size() == abi::kMaxRequests) {
        const Posted one_more = post_receive(rank, comm, buffers.back());
        EXPECT_EQ(one_more.result, abi::kSuccess);
        EXPECT_EQ(one_more.request, nullptr);
      }
      ASSERT_TRUE(rank.finish(requests.front()).done) << received;
      EXPECT_TRUE(buffers.front().bytes == pattern(kBytes, static_cast<std::uint64_t>(received)));
      EXPECT_EQ(rank.net().deregister(comm, buffers.front().mhandle), abi::kSuccess);
      requests.pop_front();
      buffers.pop_front();
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    void* comm = rank.connect(handle);
    std::deque<Buffer> buffers;
    std::deque<void*> requests;
    for (int posted = 0, sent = 0; sent < kMessages; ++sent) {
      while (posted < kMessages) {
        buffers.push_back(rank.make_buffer(comm, kBytes, static_cast<std::uint64_t>(posted)));
        const Posted next = post_send(rank, comm, buffers.back());
        EXPECT_EQ(next.result, abi::kSuccess);
        if (next.request == nullptr) {
          EXPECT_EQ(rank.net().deregister(comm, buffers.back().mhandle), abi::kSuccess);
          buffers.pop_back();
          break;
        }
        requests.push_back(next.request);
        ++posted;
      }
      if (sent == 0) {
        EXPECT_EQ(posted, abi::kMaxRequests);
        test.send("full");
      }
      ASSERT_TRUE(rank.finish(requests.front()).done) << sent;
      EXPECT_EQ(rank.net().deregister(comm, buffers.front().mhandle), abi::kSuccess);
      requests.pop_front();
      buffers.pop_front();
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "full");
  receiver.send("go");
  receiver.send("end");
  sender.send("end");
  sender.finish();
  receiver.finish();
}

TEST_P(LimitsTest, MoreConnectionsThanMayWaitForAcceptAreRefusedWithAReason) {
  constexpr int kMaxWaiting = 1024;
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    test.receive();
    // They have closed already, but the plugin has accepted each, so NCCL can accept it.
    for (int i = 0; i < kMaxWaiting; ++i) EXPECT_EQ(rank.net().close_recv(rank.accept(listener)), abi::kSuccess);
    void* none = nullptr;
    EXPECT_EQ(rank.net().accept(listener, &none), abi::kSuccess);
    EXPECT_EQ(none, nullptr);
    test.send("room");
    EXPECT_TRUE(receive_message(rank, rank.accept(listener), 1000, 1).done);
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    for (int i = 0; i < kMaxWaiting; ++i) EXPECT_EQ(rank.net().close_send(rank.connect(handle)), abi::kSuccess);
    EXPECT_THAT(warnings(), testing::IsEmpty());
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("no circuit " + world_.path({"a", "b"}) + ": node b: " + std::to_string(kMaxWaiting) +
                   " connections are already waiting for accept");
    test.send("full");
    test.receive();
    void* comm = rank.connect(handle);
    EXPECT_TRUE(send_message(rank, comm, 1000, 1).done);
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "full");
  receiver.send("accept");
  EXPECT_EQ(receiver.receive(), "room");
  sender.send("connect");
  sender.send("end");
  receiver.send("end");
  sender.finish();
  receiver.finish();
}

TEST_P(LimitsTest, AProcessOutOfDescriptorsReportsItAndConnectsOnceThereAreSome) {
#ifdef CABLEWAY_ADDRESS_SANITIZER
  GTEST_SKIP() << "the undefined-behaviour sanitizer that comes with it opens a pipe to inspect an object";
#endif
  RankProcess receiver(world_, "b", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line&) {
    constexpr std::int64_t kLeft = 10;
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = static_cast<rlim_t>(open_descriptors(::getpid()) + kLeft);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::vector<void*> comms;
    abi::Result result = abi::kSuccess;
    while (comms.size() < 3 * kLeft) {
      void* comm = rank.connect(handle, &result);
      if (comm == nullptr) break;
      comms.push_back(comm);
    }
    for (void* comm : comms) EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    limit.rlim_cur = limit.rlim_max;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(result, abi::kSystemError);
    expect_warning("no circuit " + world_.path({"a", "b"}) + ": node a cannot reach node b at ");
    expect_warning("Too many open files");
    EXPECT_FALSE(comms.empty());
    EXPECT_EQ(rank.net().close_send(rank.connect(handle)), abi::kSuccess);
  });
  sender.finish();
  receiver.send("end");
  receiver.finish();
}

// Node b relays for a and c, and has memory for two circuits and no lease.
class FullRelayTest : public testing::TestWithParam<int> {
 protected:
  static constexpr int kRoom = 2;

  FullRelayTest() {
    world_.start("a");
    world_.start("b", {{"CABLEWAY_RELAY_MEMORY", "3M"}});
    world_.start("c");
  }

  World world_{"a"};
};

TEST_P(FullRelayTest, RefusesOneCircuitMoreWithAReasonAndServesTheOthers) {
  constexpr std::size_t kBytes = 9'000'000;
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    std::vector<void*> comms;
    for (int i = 0; i < kRoom; ++i) comms.push_back(rank.accept(listener));
    EXPECT_EQ(test.receive(), "full");
    for (void* comm : comms) EXPECT_TRUE(receive_message(rank, comm, kBytes, 1).done);
    EXPECT_EQ(rank.net().close_recv(comms.back()), abi::kSuccess);
    test.send("room");
    void* another = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, another, kBytes, 2).done);
    EXPECT_TRUE(receive_message(rank, comms.front(), kBytes, 3).done);
    test.receive();
  });
  const Handle handle = receiver.receive_handle();
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    std::vector<void*> comms;
    for (int i = 0; i < kRoom; ++i) comms.push_back(rank.connect(handle));
    EXPECT_THAT(warnings(), testing::IsEmpty());
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle, &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("no circuit " + world_.path({"a", "b", "c"}) +
                   ": node b has no room for another circuit: its relay memory of 3M is taken by 2; raise "
                   "CABLEWAY_RELAY_MEMORY there");
    test.send("full");
    for (void* comm : comms) EXPECT_TRUE(send_message(rank, comm, kBytes, 1).done);
    test.receive();
    EXPECT_EQ(rank.net().close_send(comms.back()), abi::kSuccess);
    // The relay may still hold the circuit that has just ended.
    void* another = connect_when_possible(rank, handle);
    ASSERT_NE(another, nullptr);
    EXPECT_TRUE(send_message(rank, another, kBytes, 2).done);
    EXPECT_TRUE(send_message(rank, comms.front(), kBytes, 3).done);
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "full");
  receiver.send("full");
  EXPECT_EQ(receiver.receive(), "room");
  sender.send("connect");
  sender.send("end");
  receiver.send("end");
  sender.finish();
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, LimitsTest, oldest_and_newest_abi(), abi_name);
INSTANTIATE_TEST_SUITE_P(Abi, FullRelayTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
