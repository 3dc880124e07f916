// One listen comm serves several peers, and several connections of one peer, in the order in which they arrive.
#include <map>
#include <memory>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr std::size_t kListenBytes = 300'000;

class ListenTest : public testing::TestWithParam<int> {
 protected:
  ListenTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
  }

  World world_{"a"};
};

// Receives one message and returns which of the first `peers` patterns it was; -1: none.
int receive_from_any(Rank& rank, void* comm, int peers) {
  Buffer buffer = rank.make_buffer(comm, kListenBytes, 999);
  const Posted posted = post_receive(rank, comm, buffer);
  if (posted.request == nullptr || !rank.finish(posted.request).done) return -1;
  EXPECT_EQ(rank.net().deregister(comm, buffer.mhandle), abi::kSuccess);
  for (int peer = 0; peer < peers; ++peer) {
    if (buffer.bytes == pattern(kListenBytes, static_cast<std::uint64_t>(peer))) return peer;
  }
  return -1;
}

TEST_P(ListenTest, SeveralPeersAreEachAcceptedOnceForEachConnection) {
  const std::vector<std::string> nodes = {"a", "a", "b", "c"};
  constexpr int kConnections = 3;  // of each peer
  const int peers = static_cast<int>(nodes.size());
  RankProcess listening(world_, "b", GetParam(), [&](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    std::vector<void*> comms;
    for (int i = 0; i < peers * kConnections; ++i) comms.push_back(rank.accept(listener));
    void* none = nullptr;
    EXPECT_EQ(rank.net().accept(listener, &none), abi::kSuccess);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    std::map<int, int> from;
    for (void* comm : comms) ++from[receive_from_any(rank, comm, peers)];
    for (int peer = 0; peer < peers; ++peer) EXPECT_EQ(from[peer], kConnections) << "peer " << peer;
    EXPECT_EQ(from.size(), nodes.size());
    for (void* comm : comms) EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
  });
  const Handle handle = listening.receive_handle();
  std::vector<std::unique_ptr<RankProcess>> connecting;
  for (std::size_t peer = 0; peer < nodes.size(); ++peer) {
    connecting.push_back(std::make_unique<RankProcess>(world_, nodes[peer], GetParam(), [&](Rank& rank, Line&) {
      std::vector<void*> comms;
      for (int i = 0; i < kConnections; ++i) comms.push_back(rank.connect(handle));
      for (void* comm : comms) EXPECT_TRUE(send_message(rank, comm, kListenBytes, peer).done);
      for (void* comm : comms) EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    }));
  }
  for (const auto& process : connecting) process->finish();
  listening.finish();
}

TEST_P(ListenTest, AFlowThatWasAcceptedOutlivesItsListenComm) {
  RankProcess(world_, "a", GetParam(), [](Rank& rank, Line&) {
    auto [handle, listener] = rank.listen();
    void* sender = rank.connect(handle);
    void* receiver = rank.accept(listener);
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
    // Other listen comms are opened and closed.
    for (int i = 0; i < 20; ++i) EXPECT_EQ(rank.net().close_listen(rank.listen().second), abi::kSuccess);
    EXPECT_TRUE(pass_message(rank, sender, receiver, kListenBytes, 4));
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }).finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, ListenTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
