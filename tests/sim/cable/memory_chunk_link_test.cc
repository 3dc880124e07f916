#include "sim/cable/memory_chunk_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class Recorder final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame& chunk) override {
    landed.push_back(chunk);
    return absl::OkStatus();
  }
  absl::Status on_chunk(const Frame& chunk, Slot& slot) override {
    in_slots.push_back(chunk);
    slots.push_back(&slot);
    return absl::OkStatus();
  }
  absl::Status on_control(const Frame& control) override {
    controls.push_back(control);
    return absl::OkStatus();
  }
  void on_sent(Slot*) override { ++sent; }

  std::vector<Frame> landed;
  std::vector<Frame> in_slots;
  std::vector<Slot*> slots;
  std::vector<Frame> controls;
  int sent = 0;
};

class MemoryChunkLinkTest : public testing::Test {
 protected:
  MemoryChunkLinkTest() {
    auto [left, right] = MemoryChunkLink::make_pair();
    left_ = std::move(left);
    right_ = std::move(right);
  }
  std::string error_of(MemoryChunkLink& link) {
    Recorder sink;
    const absl::Status status = link.progress(sink);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  static constexpr Frame kChunk{FrameKind::kChunk, 256, 3, 0, 256};
  std::unique_ptr<MemoryChunkLink> left_;
  std::unique_ptr<MemoryChunkLink> right_;
  Recorder at_left_;
  Recorder at_right_;
  test::SentMessage message_{3, 256};
  test::ReceivedMessage landing_{300};
};

TEST_F(MemoryChunkLinkTest, MovesNothingUntilItIsStepped) {
  ASSERT_TRUE(right_->post_landing(3, landing_.landing()).ok());
  left_->send(kChunk, message_.buffer());
  ASSERT_TRUE(right_->progress(at_right_).ok());
  EXPECT_THAT(at_right_.landed, SizeIs(0));
  EXPECT_TRUE(left_->step());
  EXPECT_FALSE(left_->step());
  ASSERT_TRUE(right_->progress(at_right_).ok());
  EXPECT_THAT(at_right_.landed, testing::ElementsAre(kChunk));
  EXPECT_TRUE(landing_.holds(3, 256));
  // The completion is reported to the sender late, and only once.
  EXPECT_FALSE(left_->can_send());
  ASSERT_TRUE(left_->progress(at_left_).ok());
  ASSERT_TRUE(left_->progress(at_left_).ok());
  EXPECT_EQ(at_left_.sent, 1);
  EXPECT_TRUE(left_->can_send());
}

TEST_F(MemoryChunkLinkTest, ReadsABufferWhenItIsSteppedAndNotBefore) {
  ASSERT_TRUE(right_->post_landing(3, landing_.landing()).ok());
  left_->send(kChunk, message_.buffer());
  message_.poison();
  ASSERT_TRUE(left_->step());
  EXPECT_FALSE(landing_.holds(3, 256)) << "reuse before on_sent must show";
}

TEST_F(MemoryChunkLinkTest, WaitsForASlot) {
  const auto slots = make_memory_slots(1, 256);
  right_->post_slot(*slots[0]);
  left_->send(kChunk, message_.buffer());
  ASSERT_TRUE(left_->step());
  ASSERT_TRUE(left_->progress(at_left_).ok());
  left_->send(kChunk, message_.buffer());
  EXPECT_FALSE(left_->step());
  ASSERT_TRUE(right_->progress(at_right_).ok());
  ASSERT_THAT(at_right_.slots, SizeIs(1));
  EXPECT_EQ(slots[0]->filled, 256U);
  right_->post_slot(*at_right_.slots[0]);
  EXPECT_TRUE(left_->step());
}

TEST_F(MemoryChunkLinkTest, RefusesDataOutsideTheLanding) {
  const auto slots = make_memory_slots(1, 128);
  right_->post_slot(*slots[0]);
  left_->send(kChunk, message_.buffer());
  EXPECT_FALSE(left_->step());
  EXPECT_THAT(error_of(*right_), HasSubstr("256 bytes does not fit a slot of 128"));
}

TEST_F(MemoryChunkLinkTest, RefusesAChunkPastItsMessage) {
  ASSERT_TRUE(right_->post_landing(3, landing_.landing()).ok());
  left_->send(Frame{FrameKind::kChunk, 256, 3, 128, 256}, message_.buffer());
  EXPECT_FALSE(left_->step());
  EXPECT_THAT(error_of(*right_), HasSubstr("reaches past its message"));
  EXPECT_TRUE(landing_.holds(3, 0));
}

TEST_F(MemoryChunkLinkTest, BoundsQueuedFramesAndPosts) {
  for (std::size_t i = 0; i < kMaxQueuedControls; ++i) {
    ASSERT_TRUE(left_->send_control(Frame{FrameKind::kAck, 0, i, 0, 0}).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(left_->send_control(Frame{FrameKind::kAck, 0, 999, 0, 0})));
  for (std::size_t i = 0; i < kMaxLandings; ++i) ASSERT_TRUE(left_->post_landing(i, landing_.landing()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(left_->post_landing(99, landing_.landing())));
}

TEST_F(MemoryChunkLinkTest, WritesNothingAfterAFence) {
  ASSERT_TRUE(right_->post_landing(3, landing_.landing()).ok());
  left_->send(kChunk, message_.buffer());
  right_->fence();
  left_->step();
  EXPECT_TRUE(landing_.holds(3, 0));
  EXPECT_THAT(error_of(*right_), HasSubstr("closed"));
  EXPECT_THAT(error_of(*left_), HasSubstr("the peer closed"));
}

TEST_F(MemoryChunkLinkTest, ReportsNothingAfterAFence) {
  ASSERT_TRUE(right_->post_landing(3, landing_.landing()).ok());
  left_->send(kChunk, message_.buffer());
  ASSERT_TRUE(left_->step());
  right_->fence();
  EXPECT_FALSE(right_->progress(at_right_).ok());
  EXPECT_THAT(at_right_.landed, SizeIs(0));
}

TEST_F(MemoryChunkLinkTest, ReportsTheReasonAfterQueuedFrames) {
  ASSERT_TRUE(left_->send_control(Frame{FrameKind::kAck, 0, 1, 0, 2}).ok());
  left_->fail("out of coffee", FailureScope::kCircuit);
  EXPECT_EQ(right_->progress(at_right_), absl::AbortedError("out of coffee"));
  EXPECT_THAT(at_right_.controls, SizeIs(1));
}

TEST_F(MemoryChunkLinkTest, ReportsTheScopeToThePeerAlone) {
  left_->fail("out of coffee", FailureScope::kFlow);
  EXPECT_EQ(right_->progress(at_right_), absl::NotFoundError("out of coffee"));
  EXPECT_TRUE(absl::IsFailedPrecondition(left_->progress(at_left_)));
}

TEST_F(MemoryChunkLinkTest, FailsAtBothEndsWhenCut) {
  left_->cut(absl::UnavailableError("pulled"));
  EXPECT_THAT(error_of(*left_), HasSubstr("pulled"));
  EXPECT_THAT(error_of(*right_), HasSubstr("pulled"));
  EXPECT_FALSE(left_->step());
}

}  // namespace
}  // namespace cableway::sim
