// A relay between RDMA hops that only its devices and the regular tick() calls wake: it returns its leases as soon as
// the upstream neighbour answers the recalls.
#include <gtest/gtest.h>

#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway {
namespace {

constexpr std::uint32_t kLeaseChunk = 128;
constexpr std::size_t kRelayLeases = 3;

class RdmaLease : public ::testing::Test {
 protected:
  RelayCircuit& relay() { return *circuit_.relays().front(); }
  sim::StubQueuePair& upstream() { return *circuit_.hops()[0]->far_pair; }
  sim::StubQueuePair& downstream() { return *circuit_.hops()[1]->near_pair; }

  // The flow's ends poll; the relay sleeps until a device has a completion.
  void turn() {
    network_.deliver_all();
    if (sender_is_polled_) {
      ASSERT_TRUE(sender_.progress().ok());
    }
    ASSERT_TRUE(receiver_.progress().ok());
    if (!upstream().has_reports() && !downstream().has_reports()) return;
    ASSERT_TRUE(relay().progress().ok());
  }
  void turns() {
    for (int i = 0; i < 20; ++i) turn();
  }

  // Sends one message whose chunks wait at the relay until it has leased all slots.
  void send_slowly() {
    ASSERT_TRUE(relay().progress().ok());
    downstream().hold_completions(true);
    ASSERT_TRUE(receiver_.post(Landing{landing_.data(), landing_.size(), landing_memory_.keys().remote}).ok());
    ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), message_memory_.keys().local}, message_.size()).ok());
    turns();
    ASSERT_EQ(circuit_.pool(0).leased(), kRelayLeases);
    downstream().hold_completions(false);
    turns();
    ASSERT_TRUE(sender_.done(0));
    ASSERT_EQ(relay().slots_in_use(), 0U);
  }

  void tick(std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      relay().tick();
      turns();
    }
  }

  bool sender_is_polled_ = true;
  sim::StubNetwork network_;
  test::RdmaCircuit circuit_{network_, 1, kRelayLeases, kRelayLeases, kLeaseChunk};
  FlowSender sender_{circuit_.source(), kLeaseChunk};
  FlowReceiver receiver_{circuit_.destination()};
  std::vector<std::byte> message_ = std::vector<std::byte>(8 * kLeaseChunk, std::byte{3});
  std::vector<std::byte> landing_ = std::vector<std::byte>(8 * kLeaseChunk);
  sim::StubMemory message_memory_ = circuit_.source_device().register_memory(message_);
  sim::StubMemory landing_memory_ = circuit_.destination_device().register_writable(landing_);
};

TEST_F(RdmaLease, AnIdleRelayRecallsItsSlotsAndReturnsTheLeases) {
  send_slowly();
  for (std::uint32_t i = 0; i <= RelayCircuit::kIdleTicks; ++i) {
    EXPECT_EQ(circuit_.pool(0).leased(), kRelayLeases);
    relay().tick();
    turns();
  }
  relay().tick();
  EXPECT_EQ(circuit_.pool(0).leased(), 0U);
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(RdmaLease, ReturnedSlotsAreLeasedAgain) {
  send_slowly();
  tick(RelayCircuit::kIdleTicks + 2);
  ASSERT_EQ(circuit_.pool(0).leased(), 0U);
  downstream().hold_completions(true);
  ASSERT_TRUE(receiver_.post(Landing{landing_.data(), landing_.size(), landing_memory_.keys().remote}).ok());
  ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), message_memory_.keys().local}, message_.size()).ok());
  turns();
  EXPECT_EQ(circuit_.pool(0).leased(), kRelayLeases);
  downstream().hold_completions(false);
  turns();
  EXPECT_TRUE(sender_.done(1));
  EXPECT_EQ(landing_, message_);
}

TEST_F(RdmaLease, ASourceKeepsSlotsUntilItPolls) {
  send_slowly();
  sender_is_polled_ = false;
  tick(10 * RelayCircuit::kIdleTicks);
  EXPECT_EQ(circuit_.pool(0).leased(), kRelayLeases);
  // The flow is idle: only the return of the slots is sent.
  ASSERT_TRUE(sender_.idle());
  ASSERT_TRUE(sender_.progress().ok());
  turns();
  tick(1);
  EXPECT_EQ(circuit_.pool(0).leased(), 0U);
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(RdmaLease, ASourceThatDoesNotPollDoesNotBlockOtherLeases) {
  send_slowly();
  sender_is_polled_ = false;
  SlotPool& pool = circuit_.pool(0);
  pool.begin_waiting();
  tick(RelayCircuit::kHeldTicks);
  EXPECT_FALSE(pool.wanted()) << "they are recalled and counted on";
  tick(RelayCircuit::kReturnTicks);
  EXPECT_TRUE(pool.wanted());
  sender_is_polled_ = true;
  tick(2);  // one for the answer, and one that handles it
  EXPECT_EQ(pool.leased(), 0U);
  EXPECT_TRUE(pool.wanted());
  pool.end_waiting();
  EXPECT_FALSE(pool.wanted());
}

}  // namespace
}  // namespace cableway
