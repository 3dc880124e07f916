// Communicators on separate threads, each with the service and the progress thread that NCCL gives it.
#include <thread>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr int kMessages = kSlowBuild ? 20 : 100;

class ParallelTest : public testing::TestWithParam<int> {
 protected:
  void on_node_a(const RankProcess::Act& act) {
    world_.start("a");
    RankProcess(world_, "a", GetParam(), act).finish();
  }

  World world_{"a"};
};

void pass_messages(Rank& rank, std::uint64_t seed) {
  auto [sender, receiver] = rank.connect_to_self();
  for (int i = 0; i < kMessages; ++i) {
    const std::size_t bytes = static_cast<std::size_t>(1 + i * 7919 % 200'000);
    EXPECT_TRUE(pass_message(rank, sender, receiver, bytes, seed + static_cast<std::uint64_t>(i)));
  }
  EXPECT_EQ(rank.net().close_send(sender), abi::kSuccess);
  EXPECT_EQ(rank.net().close_recv(receiver), abi::kSuccess);
}

TEST_P(ParallelTest, CommunicatorsDoNotInterfere) {
  on_node_a([](Rank&, Line&) {
    constexpr int kCommunicators = 3;
    std::vector<std::thread> threads;
    for (int i = 0; i < kCommunicators; ++i) {
      threads.emplace_back([i, version = GetParam()] {
        Rank rank(version);
        pass_messages(rank, static_cast<std::uint64_t>(i) * 1000);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
}

TEST_P(ParallelTest, ConnectionsOpenAndCloseWhileDataMoves) {
  on_node_a([](Rank& rank, Line&) {
    std::thread progress([&rank] { pass_messages(rank, 1); });
    for (int i = 0; i < kMessages; ++i) {
      auto [sender, receiver] = rank.connect_to_self();
      const Buffer buffer = rank.make_buffer(receiver, 1000, 1);
      EXPECT_EQ(rank.net().deregister(receiver, buffer.mhandle), abi::kSuccess);
      EXPECT_EQ(rank.net().close_recv(receiver), abi::kSuccess);
      EXPECT_EQ(rank.net().close_send(sender), abi::kSuccess);
    }
    progress.join();
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
}

INSTANTIATE_TEST_SUITE_P(Abi, ParallelTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
