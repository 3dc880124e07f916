#include "core/relay/relay_circuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/circuit_name.h"
#include "sim/cable/memory_chunk_link.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kChunkBytes = 1024;

// A relay with both neighbours played by the test.
class RelayCircuitTest : public testing::Test {
 protected:
  RelayCircuitTest() {
    auto [source, upstream] = sim::MemoryChunkLink::make_pair();
    auto [downstream, destination] = sim::MemoryChunkLink::make_pair();
    source_ = std::move(source);
    upstream_ = std::move(upstream);
    downstream_ = std::move(downstream);
    destination_ = std::move(destination);
    relay_ =
        std::make_unique<RelayCircuit>(*upstream_, *downstream_, std::make_unique<sim::MemorySlot>(kChunkBytes), pool_);
  }

  class End final : public ChunkLink::Sink {
   public:
    absl::Status on_landed(const Frame& chunk) override {
      chunks.push_back(chunk);
      return absl::OkStatus();
    }
    absl::Status on_chunk(const Frame&, Slot&) override { return absl::InternalError("no slots here"); }
    absl::Status on_control(const Frame& control) override {
      controls.push_back(control);
      return absl::OkStatus();
    }
    void on_sent(Slot*) override { ++sent; }

    std::vector<Frame> chunks;
    std::vector<Frame> controls;
    std::size_t sent = 0;
  };

  // The source sends chunk `number` of a message of `of` chunks if the relay can receive it.
  bool source_sends(std::uint64_t number, std::uint64_t of) {
    if (!source_->can_send()) return false;
    source_->send(Frame{FrameKind::kChunk, kChunkBytes, 0, number * kChunkBytes, of * kChunkBytes},
                  SendBuffer{payload_.buffer().data, 0});
    return source_->step();
  }
  absl::Status relay_progress() { return relay_->progress().status(); }
  std::string why(ChunkLink& end) {
    End sink;
    const absl::Status status = end.progress(sink);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  SlotPool pool_{sim::make_memory_slots(1, kChunkBytes), 1};
  std::unique_ptr<sim::MemoryChunkLink> source_;
  std::unique_ptr<sim::MemoryChunkLink> upstream_;
  std::unique_ptr<sim::MemoryChunkLink> downstream_;
  std::unique_ptr<sim::MemoryChunkLink> destination_;
  std::unique_ptr<RelayCircuit> relay_;
  const test::SentMessage payload_{0, kChunkBytes};
  End at_source_;
  End at_destination_;
};

TEST_F(RelayCircuitTest, ReceivesTheNextChunkWhileItSendsOne) {
  test::ReceivedMessage landing(4 * kChunkBytes);
  ASSERT_TRUE(destination_->post_landing(0, landing.landing()).ok());
  ASSERT_TRUE(source_sends(0, 4));
  ASSERT_TRUE(relay_progress().ok());
  ASSERT_FALSE(downstream_->can_send()) << "chunk 0 is in flight";
  ASSERT_TRUE(source_->progress(at_source_).ok());
  EXPECT_TRUE(source_sends(1, 4)) << "chunk 1 must arrive while chunk 0 is being sent";
  ASSERT_TRUE(relay_progress().ok());
  EXPECT_EQ(relay_->slots_in_use(), 2U);
  // Both slots are in use: the third chunk waits at the source, and nothing is dropped.
  ASSERT_TRUE(source_->progress(at_source_).ok());
  EXPECT_FALSE(source_sends(2, 4));
  // One has left, and its slot receives the third while the second is being sent.
  ASSERT_TRUE(downstream_->step());
  ASSERT_TRUE(relay_progress().ok());
  EXPECT_TRUE(source_->step());
  EXPECT_FALSE(downstream_->can_send());
}

TEST_F(RelayCircuitTest, ForwardsChunksInOrderAndCountsThem) {
  test::ReceivedMessage landing(4 * kChunkBytes);
  ASSERT_TRUE(destination_->post_landing(0, landing.landing()).ok());
  for (std::uint64_t number = 0; number < 4; ++number) {
    ASSERT_TRUE(source_sends(number, 4));
    ASSERT_TRUE(relay_progress().ok());
    ASSERT_TRUE(downstream_->step());
    ASSERT_TRUE(relay_progress().ok());
    ASSERT_TRUE(source_->progress(at_source_).ok());
    ASSERT_TRUE(destination_->progress(at_destination_).ok());
  }
  ASSERT_EQ(at_destination_.chunks.size(), 4U);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(at_destination_.chunks[i].offset, i * kChunkBytes);
  EXPECT_EQ(relay_->chunks_relayed(), 4U);
  EXPECT_EQ(relay_->bytes_relayed(), 4 * kChunkBytes);
  EXPECT_EQ(relay_->slots_in_use(), 0U);
  EXPECT_EQ(upstream_->slots_posted(), 1U + relay_->leases());
}

TEST_F(RelayCircuitTest, ForwardsControlFramesUpstream) {
  const Frame announcement{FrameKind::kAnnounce, 0, 0, 0, 77};
  const Frame acknowledgement{FrameKind::kAck, 0, 0, 0, 77};
  const Frame landed{FrameKind::kLanded, 0, 16, 0, 0};
  const Frame retired = retired_frame({3, 1}, 16);
  for (const Frame& frame : {announcement, acknowledgement, landed, retired}) {
    ASSERT_TRUE(destination_->send_control(frame).ok());
  }
  while (destination_->step()) continue;
  ASSERT_TRUE(relay_progress().ok());
  while (upstream_->step()) continue;
  ASSERT_TRUE(source_->progress(at_source_).ok());
  EXPECT_THAT(at_source_.controls, testing::ElementsAre(announcement, acknowledgement, landed, retired));
}

TEST_F(RelayCircuitTest, ForwardsRetireDownstreamAheadOfAWaitingChunk) {
  source_->send(Frame{FrameKind::kChunk, kChunkBytes, 0, 0, kChunkBytes}, payload_.buffer());
  ASSERT_TRUE(source_->send_control(retire_frame({3, 1})).ok());
  while (source_->step()) continue;
  ASSERT_TRUE(relay_progress().ok());
  ASSERT_TRUE(downstream_->step());
  ASSERT_TRUE(destination_->progress(at_destination_).ok());
  EXPECT_THAT(at_destination_.controls, testing::ElementsAre(retire_frame({3, 1})));
}

TEST_F(RelayCircuitTest, EndsWhenDownstreamRetires) {
  ASSERT_TRUE(destination_->send_control(retire_frame({3, 1})).ok());
  ASSERT_TRUE(destination_->step());
  EXPECT_THAT(std::string(relay_progress().message()), AllOf(HasSubstr("downstream"), HasSubstr("frame retire")));
}

TEST_F(RelayCircuitTest, RefusesAFloodOfAnnouncements) {
  // The source reads nothing; the relay's queue for it is bounded.
  absl::Status status;
  std::size_t taken = 0;
  for (; taken < 1000 && status.ok(); ++taken) {
    ASSERT_TRUE(destination_->send_control(Frame{FrameKind::kAnnounce, 0, taken, 0, 1}).ok());
    ASSERT_TRUE(destination_->step());
    status = relay_progress();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(taken, kMaxQueuedControls + 1);
  EXPECT_THAT(std::string(status.message()), HasSubstr("downstream"));
  EXPECT_THAT(why(*destination_), HasSubstr("more control frames"));
  EXPECT_THAT(why(*source_), HasSubstr("more control frames"));
}

TEST_F(RelayCircuitTest, EndsWhenUpstreamSendsAnAcknowledgement) {
  ASSERT_TRUE(source_->send_control(Frame{FrameKind::kAck, 0, 0, 0, 1}).ok());
  ASSERT_TRUE(source_->step());
  EXPECT_THAT(std::string(relay_progress().message()), AllOf(HasSubstr("upstream"), HasSubstr("frame ack")));
  EXPECT_THAT(why(*source_), HasSubstr("frame ack"));
  EXPECT_THAT(why(*destination_), HasSubstr("frame ack"));
}

TEST_F(RelayCircuitTest, EndsWhenDownstreamSendsData) {
  destination_->send(Frame{FrameKind::kChunk, 128, 0, 0, 128}, payload_.buffer());
  destination_->step();
  EXPECT_THAT(std::string(relay_progress().message()), HasSubstr("downstream"));
  EXPECT_FALSE(why(*source_).empty());
  EXPECT_FALSE(why(*destination_).empty());
}

// Unchanged, so that it does not grow with the path.
TEST_F(RelayCircuitTest, ForwardsTheReasonOfOneSideToTheOther) {
  const absl::Status reason = absl::AbortedError("the source has had enough");
  source_->fail(reason.message(), FailureScope::kCircuit);
  EXPECT_EQ(relay_progress(), reason);
  EXPECT_EQ(destination_->progress(at_destination_), reason);
  // Final: it stays ended.
  EXPECT_FALSE(relay_progress().ok());
}

TEST_F(RelayCircuitTest, ForwardsTheSourcesEndOfTheFlow) {
  const absl::Status reason = absl::NotFoundError("node n0: the job has ended");
  source_->fail(reason.message(), FailureScope::kFlow);
  EXPECT_EQ(relay_progress(), reason);
  EXPECT_EQ(destination_->progress(at_destination_), reason);
}

TEST_F(RelayCircuitTest, ForwardsTheDestinationsEndOfTheFlow) {
  const absl::Status reason = absl::NotFoundError("node n2: the job has ended");
  destination_->fail(reason.message(), FailureScope::kFlow);
  EXPECT_EQ(relay_progress(), reason);
  EXPECT_EQ(source_->progress(at_source_), reason);
}

// Whatever its code.
TEST_F(RelayCircuitTest, WhatItFindsItselfEndsTheCircuitAlone) {
  relay_->fail(absl::NotFoundError("node n1: no such device"));
  EXPECT_EQ(source_->progress(at_source_), absl::AbortedError("node n1: no such device"));
  EXPECT_EQ(destination_->progress(at_destination_), absl::AbortedError("node n1: no such device"));
}

TEST_F(RelayCircuitTest, ABrokenHopEndsTheCircuitAlone) {
  upstream_->cut(absl::UnavailableError("the cable was pulled"));
  EXPECT_FALSE(relay_progress().ok());
  EXPECT_EQ(destination_->progress(at_destination_), absl::AbortedError("relay, upstream: the cable was pulled"));
}

TEST_F(RelayCircuitTest, ForwardsFramesSentBeforeTheEnd) {
  // A destination that acknowledges and closes at once: the source receives both.
  const Frame acknowledgement{FrameKind::kAck, 0, 0, 0, 5};
  ASSERT_TRUE(destination_->send_control(acknowledgement).ok());
  ASSERT_TRUE(destination_->step());
  destination_->fence();
  EXPECT_FALSE(relay_progress().ok());
  EXPECT_FALSE(source_->progress(at_source_).ok());
  EXPECT_THAT(at_source_.controls, testing::ElementsAre(acknowledgement));
}

}  // namespace
}  // namespace cableway
