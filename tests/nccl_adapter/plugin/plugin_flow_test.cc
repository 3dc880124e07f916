// What NCCL relies on in the absence of errors, for every version of the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

class PluginFlow : public testing::TestWithParam<int> {
 protected:
  World world_{"a"};
  Rank rank_{GetParam()};
};

TEST_P(PluginFlow, OffersOneDeviceThatHidesThePorts) {
  int count = 0;
  ASSERT_EQ(rank_.net().devices(&count), abi::kSuccess);
  EXPECT_EQ(count, 1);
  collperf::DeviceProperties device;
  ASSERT_EQ(rank_.net().get_properties(0, &device), abi::kSuccess);
  EXPECT_EQ(device.name, "cableway0");
  EXPECT_EQ(device.pci_path, "");
  EXPECT_EQ(device.ptr_support, abi::kPtrHost);
  EXPECT_EQ(device.speed_mbps, 10000);
  EXPECT_EQ(device.max_recvs, 1);
  EXPECT_NE(device.guid, 0U);
  EXPECT_NE(rank_.net().get_properties(1, &device), abi::kSuccess);
}

TEST_P(PluginFlow, EverySizeArrivesWholeAndAtItsTrueSize) {
  auto [sender, receiver] = rank_.connect_to_self();
  std::uint64_t seed = 1;
  for (const std::size_t bytes : {0UL, 1UL, 127UL, 128UL, 129UL, 4095UL, 4096UL, 4097UL, 65536UL, (1UL << 20) - 1,
                                  1UL << 20, (1UL << 20) + 1, (8UL << 20) + 5}) {
    const std::size_t capacity = bytes + 1000;
    Buffer from = rank_.make_buffer(sender, std::max<std::size_t>(bytes, 1), seed);
    Buffer to = rank_.make_buffer(receiver, capacity, seed + 1000);
    const std::vector<std::byte> untouched(to.bytes.begin() + static_cast<std::ptrdiff_t>(bytes), to.bytes.end());
    void* receive = rank_.post_receive(receiver, to, capacity);
    void* send = rank_.post_send(sender, from, bytes);
    ASSERT_NE(receive, nullptr);
    ASSERT_NE(send, nullptr);
    Outcome sent;
    Outcome received;
    // One thread drives both ends, so they are tested in turn.
    for (int i = 0; i < 2000000 && !(sent.done && received.done); ++i) {
      if (!received.done) received = rank_.finish(receive, std::chrono::milliseconds(1));
      if (!sent.done) sent = rank_.finish(send, std::chrono::milliseconds(1));
      ASSERT_EQ(sent.result, abi::kSuccess);
      ASSERT_EQ(received.result, abi::kSuccess);
    }
    ASSERT_TRUE(sent.done && received.done) << bytes;
    EXPECT_EQ(received.bytes, static_cast<int>(bytes));
    EXPECT_TRUE(std::equal(to.bytes.begin(), to.bytes.begin() + static_cast<std::ptrdiff_t>(bytes), from.bytes.begin()))
        << bytes;
    EXPECT_TRUE(std::equal(untouched.begin(), untouched.end(), to.bytes.begin() + static_cast<std::ptrdiff_t>(bytes)))
        << bytes;
    EXPECT_EQ(rank_.net().deregister(sender, from.mhandle), abi::kSuccess);
    EXPECT_EQ(rank_.net().deregister(receiver, to.mhandle), abi::kSuccess);
    seed += 1;
  }
  EXPECT_EQ(rank_.net().close_send(sender), abi::kSuccess);
  EXPECT_EQ(rank_.net().close_recv(receiver), abi::kSuccess);
}

TEST_P(PluginFlow, ThirtyTwoRequestsInFlightAndNoMore) {
  auto [sender, receiver] = rank_.connect_to_self();
  constexpr std::size_t kBytes = 1000;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Buffer> from;
    std::vector<Buffer> to;
    std::vector<void*> sends;
    std::vector<void*> receives;
    for (int i = 0; i < abi::kMaxRequests; ++i) {
      from.push_back(rank_.make_buffer(sender, kBytes, static_cast<std::uint64_t>(round * 100 + i)));
      to.push_back(rank_.make_buffer(receiver, kBytes, 7777));
      sends.push_back(rank_.post_send(sender, from.back(), kBytes));
      ASSERT_NE(sends.back(), nullptr) << i;
    }
    EXPECT_EQ(rank_.post_send(sender, from[0], kBytes), nullptr);
    for (int i = 0; i < abi::kMaxRequests; ++i) {
      receives.push_back(rank_.post_receive(receiver, to[static_cast<std::size_t>(i)], kBytes));
      ASSERT_NE(receives.back(), nullptr) << i;
    }
    EXPECT_EQ(rank_.post_receive(receiver, to[0], kBytes), nullptr);
    // The newest is tested first: a request that is done but not yet tested keeps its state.
    for (int i = abi::kMaxRequests - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      Outcome sent;
      Outcome received;
      for (int turn = 0; turn < 100000 && !(sent.done && received.done); ++turn) {
        if (!sent.done) sent = rank_.finish(sends[at], std::chrono::milliseconds(1));
        if (!received.done) received = rank_.finish(receives[at], std::chrono::milliseconds(1));
      }
      ASSERT_TRUE(sent.done && received.done) << i;
      EXPECT_EQ(received.bytes, static_cast<int>(kBytes));
      EXPECT_EQ(to[at].bytes, from[at].bytes) << i;
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(rank_.net().deregister(sender, from[i].mhandle), abi::kSuccess);
      EXPECT_EQ(rank_.net().deregister(receiver, to[i].mhandle), abi::kSuccess);
    }
  }
  rank_.net().close_send(sender);
  rank_.net().close_recv(receiver);
}

TEST_P(PluginFlow, ConnectAndAcceptDoNotBlock) {
  auto [handle, listener] = rank_.listen();
  void* comm = nullptr;
  const auto before = std::chrono::steady_clock::now();
  ASSERT_EQ(rank_.net().accept(listener, &comm), abi::kSuccess);
  EXPECT_EQ(comm, nullptr);
  Handle copy = handle;
  ASSERT_EQ(rank_.net().connect(0, copy.data(), &comm), abi::kSuccess);
  EXPECT_EQ(comm, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  rank_.net().close_listen(listener);
}

INSTANTIATE_TEST_SUITE_P(Abi, PluginFlow, testing::Values(8, 9, 10, 11, 12),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace cableway::nccl::test
