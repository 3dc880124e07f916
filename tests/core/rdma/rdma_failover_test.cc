// A flow over two circuits of RDMA hops on stub devices, of which the first one ends: what may still be written to a
// receive, and what never is. All memory stays registered with the devices of both circuits, as NCCL's does, so only
// fences keep late writes out. Every receive is used again as soon as its message is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kFailoverChunk = 1024;
constexpr std::size_t kFailoverLeases = 3;
constexpr std::size_t kFailoverChunks = 20;  // of a message: more than a receiver counts before it reports

enum class Notices : std::uint8_t { kSource, kDestination, kBoth };

class FailoverWorld {
 public:
  explicit FailoverWorld(std::size_t relays) {
    for (auto& circuit : circuits_) {
      circuit = std::make_unique<test::RdmaCircuit>(network_, relays, kFailoverLeases, kFailoverLeases, kFailoverChunk);
      const CircuitName name = sender_.reserve().value_or(CircuitName{});
      EXPECT_TRUE(receiver_.join(name, circuit->destination(), "node n1 port b").ok());
      EXPECT_TRUE(sender_.join(name, circuit->source(), "node n0 port a", kFailoverChunk).ok());
    }
    turns();
  }

  void post_receive(std::size_t bytes) {
    Message& message = *messages_.emplace_back(std::make_unique<Message>(messages_.size(), bytes));
    for (std::size_t i = 0; i < std::size(circuits_); ++i) {
      message.registered.push_back(circuits_[i]->source_device().register_memory(message.sent.bytes()));
      message.local[i] = message.registered.back().keys().local;
      message.registered.push_back(circuits_[i]->destination_device().register_writable(message.received.room()));
      message.remote[i] = message.registered.back().keys().remote;
    }
    ASSERT_TRUE(receiver_.post(FlowLanding(message.received.landing().data, bytes, &message.remote)).ok());
    turns();
  }
  void post_send() {
    const Message& message = *messages_.back();
    ASSERT_TRUE(sender_.post(FlowBuffer(message.sent.buffer().data, &message.local), message.sent.size()).ok());
    turns();
  }
  void pass(std::size_t bytes) {
    post_receive(bytes);
    post_send();
    EXPECT_TRUE(sender_.done(messages_.size() - 1));
  }
  void turns() {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(sender_.progress().ok());
      for (std::size_t circuit = stands_still_ ? 1 : 0; circuit < std::size(circuits_); ++circuit) {
        for (const auto& relay : circuits_[circuit]->relays()) relay->progress().IgnoreError();
      }
      network_.deliver_all();
      ASSERT_TRUE(receiver_.progress().ok());
      for (; taken_ < messages_.size() && receiver_.done(taken_); ++taken_) {
        Message& message = *messages_[taken_];
        EXPECT_TRUE(message.received.holds(taken_, message.sent.size())) << "message " << taken_;
        message.received.reuse();
      }
    }
  }
  // Both ends of its hops hold back what they send, or do so no longer.
  void hold_first(bool held) {
    for (const auto& hop : circuits_[0]->hops()) {
      for (sim::StubQueuePair* pair : {hop->near_pair, hop->far_pair}) pair->hold_writes(held);
      for (test::FakeLifeline* line : {hop->near_lifeline, hop->far_lifeline}) line->hold(held);
    }
  }
  void end_first(Notices who) {
    const absl::Status pulled = absl::UnavailableError("the cable was pulled");
    if (who != Notices::kDestination) circuits_[0]->hops().front()->near_pair->fail(pulled);
    if (who != Notices::kSource) circuits_[0]->hops().back()->far_pair->fail(pulled);
  }
  // The device that writes to the receives, and the one that reports what has landed.
  sim::StubQueuePair& writing() { return *circuits_[0]->hops().back()->near_pair; }
  sim::StubQueuePair& reporting() { return *circuits_[0]->hops().back()->far_pair; }
  std::uint64_t bytes_over_second() const { return circuits_[1]->hops().front()->near_pair->counts().bytes; }
  // Whatever was held back is on its way again, and nothing of it arrives.
  void expect_nothing_late() {
    hold_first(false);
    turns();
    for (std::size_t i = 0; i < taken_; ++i) EXPECT_TRUE(messages_[i]->received.still_reused()) << "message " << i;
    EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
  }

  bool stands_still_ = false;  // the first circuit's relay
  sim::StubNetwork network_{{.max_late_writes = RdmaQueuePair::kMaxWrites}};
  std::unique_ptr<test::RdmaCircuit> circuits_[2];
  FlowSender sender_;
  FlowReceiver receiver_;

 private:
  struct Message {
    Message(std::uint64_t number, std::size_t bytes) : sent(number, bytes), received(bytes) {}

    test::SentMessage sent;
    test::ReceivedMessage received;
    CircuitKeys local{};
    CircuitKeys remote{};
    std::vector<sim::StubMemory> registered;
  };

  std::vector<std::unique_ptr<Message>> messages_;
  std::size_t taken_ = 0;
};

class RdmaFailover : public testing::TestWithParam<std::tuple<std::size_t, Notices>> {
 protected:
  FailoverWorld world_{std::get<0>(GetParam())};
  const Notices who_ = std::get<1>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(RelaysAndWhoNotices, RdmaFailover,
                         testing::Combine(testing::Values(0, 1, 2),
                                          testing::Values(Notices::kSource, Notices::kDestination, Notices::kBoth)));

// All has landed; what reports it, the acknowledgement and the circuit are lost together.
TEST_P(RdmaFailover, NothingIsSentAgainThatLandedBeforeItsReportWasLost) {
  world_.post_receive(kFailoverChunks * kFailoverChunk);
  world_.reporting().hold_writes(true);
  world_.post_send();
  ASSERT_TRUE(world_.receiver_.done(0));
  ASSERT_FALSE(world_.sender_.done(0));
  world_.hold_first(true);
  world_.end_first(who_);
  world_.turns();
  EXPECT_TRUE(world_.sender_.done(0));
  EXPECT_EQ(world_.sender_.traffic().bytes_again(), 0U);
  EXPECT_EQ(world_.bytes_over_second(), 0U);
  EXPECT_FALSE(world_.receiver_.is_live({0, 1})) << "it is fenced, whichever end has noticed";
  world_.expect_nothing_late();
  world_.pass(kFailoverChunk);
}

// Two chunks have landed and are not reported, the third one without its frame; the others are on the wire.
TEST_P(RdmaFailover, ExactlyWhatWasNotCountedIsSentAgain) {
  world_.post_receive(kFailoverChunks * kFailoverChunk);
  world_.writing().hold_writes(true);
  world_.reporting().hold_writes(true);
  world_.post_send();
  world_.writing().hold_writes(false);
  for (int writes = 0; writes < 5; ++writes) ASSERT_TRUE(world_.writing().deliver());
  world_.hold_first(true);
  ASSERT_TRUE(world_.receiver_.progress().ok());
  EXPECT_EQ(world_.receiver_.traffic().chunks(), 2U);
  world_.end_first(who_);
  world_.turns();
  EXPECT_TRUE(world_.sender_.done(0));
  EXPECT_EQ(world_.bytes_over_second(), (kFailoverChunks - 2) * kFailoverChunk);
  world_.expect_nothing_late();
}

// A healthy circuit of which more is landing all the time; what its sender leaves on the wire lands later, or not.
TEST_P(RdmaFailover, WhatIsOnTheWireLandsOnceWhenAHealthyCircuitIsRetired) {
  world_.post_receive(kFailoverChunks * kFailoverChunk);
  world_.writing().hold_writes(true);
  world_.post_send();
  world_.writing().hold_writes(false);
  const absl::Status verdict = absl::UnavailableError("it was wrongly found to be dead");
  if (who_ != Notices::kDestination) world_.sender_.end_circuit({0, 1}, verdict);
  if (who_ != Notices::kSource) world_.receiver_.end_circuit({0, 1}, verdict);
  world_.turns();
  EXPECT_TRUE(world_.sender_.done(0));
  EXPECT_FALSE(world_.receiver_.is_live({0, 1}));
  world_.expect_nothing_late();
}

// A relay stands still with full slots, all but one of them leased. The flow goes on over another circuit. Eight
// messages later the relay goes on: its write fails, and its leases return to their pool.
class RdmaRelayThatStoodStill : public testing::TestWithParam<Notices> {
 protected:
  RelayCircuit& relay() { return *world_.circuits_[0]->relays().front(); }
  SlotPool& pool() { return world_.circuits_[0]->pool(0); }
  void fill_slots() {
    world_.post_receive(kFailoverChunks * kFailoverChunk);
    world_.writing().hold_writes(true);
    world_.post_send();
    ASSERT_EQ(relay().slots_in_use(), 1 + kFailoverLeases);
    ASSERT_EQ(pool().leased(), kFailoverLeases);
  }
  void stand_still_for_eight_messages() {
    const absl::Status verdict = absl::UnavailableError("the relay stands still");
    if (GetParam() != Notices::kDestination) world_.sender_.end_circuit({0, 1}, verdict);
    if (GetParam() != Notices::kSource) world_.receiver_.end_circuit({0, 1}, verdict);
    world_.turns();
    for (int i = 0; i < 8; ++i) world_.pass(kFailoverChunks * kFailoverChunk);
    EXPECT_EQ(pool().leased(), kFailoverLeases);
    // It learns from its device alone that the others have left.
    world_.circuits_[0]->hops()[0]->far_lifeline->hold(true);
    world_.circuits_[0]->hops()[1]->near_lifeline->hold(true);
  }
  void go_on() {
    absl::Status status;
    for (int i = 0; i < 20 && status.ok(); ++i) {
      status = relay().progress().status();
      world_.network_.deliver_all();
    }
    EXPECT_THAT(std::string(status.message()), HasSubstr("the other end does not answer")) << "its write has failed";
    EXPECT_EQ(pool().leased(), 0U);
    world_.expect_nothing_late();
  }

  FailoverWorld world_{1};
};

INSTANTIATE_TEST_SUITE_P(WhoNotices, RdmaRelayThatStoodStill,
                         testing::Values(Notices::kSource, Notices::kDestination, Notices::kBoth));

TEST_P(RdmaRelayThatStoodStill, AWriteThatItsDeviceHasFailsAndItsLeasesReturn) {
  fill_slots();
  world_.stands_still_ = true;
  stand_still_for_eight_messages();
  world_.writing().hold_writes(false);
  go_on();
}

TEST_P(RdmaRelayThatStoodStill, AWriteThatItHasNotBegunFailsAndItsLeasesReturn) {
  fill_slots();
  world_.writing().hold_writes(false);
  world_.turns();
  ASSERT_TRUE(world_.sender_.done(0));
  ASSERT_EQ(pool().leased(), kFailoverLeases);
  // The next message's chunks are in the slots, and the relay has not looked.
  world_.post_receive(kFailoverChunks * kFailoverChunk);
  world_.stands_still_ = true;
  world_.post_send();
  const std::uint64_t written = world_.writing().counts().writes;
  stand_still_for_eight_messages();
  go_on();
  EXPECT_GT(world_.writing().counts().writes, written);
}

}  // namespace
}  // namespace cableway
