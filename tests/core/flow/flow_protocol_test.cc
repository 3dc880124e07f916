// Protocol violations that each end of a flow refuses. The test plays the other end, frame by frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "sim/cable/memory_chunk_link.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kFlowChunkBytes = 256;

// Records what arrives; refuses nothing.
class Recorder final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame& chunk) override {
    landed.push_back(chunk);
    return absl::OkStatus();
  }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::OkStatus(); }
  absl::Status on_control(const Frame& control) override {
    controls.push_back(control);
    return absl::OkStatus();
  }
  void on_sent(Slot*) override {}

  std::vector<Frame> landed;
  std::vector<Frame> controls;
};

class HandPlayedFlow : public testing::Test {
 protected:
  HandPlayedFlow() {
    auto [left, right] = sim::MemoryChunkLink::make_pair();
    near_ = std::move(left);
    far_ = std::move(right);
  }

  // Moves everything that either side has to send.
  void deliver() {
    for (bool moved = true; moved;) {
      moved = near_->step();
      moved = far_->step() || moved;
      recorded_.Update(far_->progress(recorder_));
    }
  }
  void far_sends_control(const Frame& frame) {
    ASSERT_TRUE(far_->send_control(frame).ok());
    deliver();
  }
  static Frame announcement(std::uint64_t message, std::uint64_t capacity) {
    return Frame{FrameKind::kAnnounce, 0, message, 0, capacity};
  }
  static Frame acknowledgement(std::uint64_t message, std::uint64_t bytes) {
    return Frame{FrameKind::kAck, 0, message, 0, bytes};
  }

  std::unique_ptr<sim::MemoryChunkLink> near_;
  std::unique_ptr<sim::MemoryChunkLink> far_;
  Recorder recorder_;
  absl::Status recorded_;
};

class FlowSenderTest : public HandPlayedFlow {
 protected:
  std::string error() {
    const absl::Status status = sender_.progress();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
  // Posts a landing for the message at the far end.
  void far_lands(std::uint64_t message) {
    landings_.emplace_back(4 * kFlowChunkBytes);
    ASSERT_TRUE(far_->post_landing(message, landings_.back().landing()).ok());
  }

  FlowSender sender_{*near_, kFlowChunkBytes};
  std::deque<test::ReceivedMessage> landings_;
  const test::SentMessage message_{0, 600};
};

TEST_F(FlowSenderTest, SendsNothingBeforeItIsAnnounced) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 600).ok());
  ASSERT_TRUE(sender_.progress().ok());
  deliver();
  EXPECT_TRUE(recorder_.landed.empty());
  far_sends_control(announcement(0, 600));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender_.progress().ok());
    deliver();
  }
  ASSERT_EQ(recorder_.landed.size(), 3U);
  EXPECT_EQ(recorder_.landed[0], (Frame{FrameKind::kChunk, 256, 0, 0, 600}));
  EXPECT_EQ(recorder_.landed[1], (Frame{FrameKind::kChunk, 256, 0, 256, 600}));
  EXPECT_EQ(recorder_.landed[2], (Frame{FrameKind::kChunk, 88, 0, 512, 600}));
  EXPECT_TRUE(landings_[0].holds(0, 600));
}

TEST_F(FlowSenderTest, IsDoneOnlyWhenAcknowledgedAndCompletedByItsLink) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 100).ok());
  far_sends_control(announcement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());  // sends the chunk
  deliver();                             // it lands; the link has not reported the completion to the sender
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_FALSE(sender_.done(0));
  far_sends_control(acknowledgement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_TRUE(sender_.done(0));
  EXPECT_TRUE(sender_.idle());
}

TEST_F(FlowSenderTest, IsNotDoneWhileItsLinkReadsTheBuffer) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 100).ok());
  far_sends_control(announcement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());
  // A peer that acknowledges what it cannot have: the link holds all of it and has sent none.
  ASSERT_TRUE(far_->send_control(acknowledgement(0, 100)).ok());
  ASSERT_TRUE(far_->step());
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_FALSE(sender_.done(0));
  deliver();
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_TRUE(sender_.done(0));
}

TEST_F(FlowSenderTest, RefusesToSendMoreThanTheReceiveHolds) {
  ASSERT_TRUE(sender_.post(message_.buffer(), 600).ok());
  far_sends_control(announcement(0, 599));
  EXPECT_THAT(error(), AllOf(HasSubstr("message 0"), HasSubstr("600 bytes"), HasSubstr("receive of 599 bytes")));
  deliver();
  EXPECT_TRUE(recorder_.landed.empty());
}

TEST_F(FlowSenderTest, RefusesAtOnceIfTheReceiveIsAnnounced) {
  far_sends_control(announcement(0, 599));
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_THAT(std::string(sender_.post(message_.buffer(), 600).status().message()), HasSubstr("receive of 599 bytes"));
}

TEST_F(FlowSenderTest, RefusesAnnouncementsOutOfOrder) {
  far_sends_control(announcement(1, 100));
  EXPECT_THAT(error(), AllOf(HasSubstr("announced receive 1"), HasSubstr("expected 0")));
}

TEST_F(FlowSenderTest, RefusesAnAnnouncementTwice) {
  far_sends_control(announcement(0, 100));
  far_sends_control(announcement(0, 100));
  EXPECT_THAT(error(), AllOf(HasSubstr("announced receive 0"), HasSubstr("expected 1")));
}

TEST_F(FlowSenderTest, RefusesAnnouncementsBeyondTheWindow) {
  for (std::uint64_t i = 0; i < kMaxLandings; ++i) far_sends_control(announcement(i, 100));
  ASSERT_TRUE(sender_.progress().ok());
  far_sends_control(announcement(kMaxLandings, 100));
  EXPECT_THAT(error(), AllOf(HasSubstr("announced receive 32"), HasSubstr("fewer than 32 unfinished")));
}

// The receiver may reuse a place as soon as it has acknowledged, even if the sender's link completes later.
TEST_F(FlowSenderTest, AcceptsTheAnnouncementThatFollowsAnAcknowledgement) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 100).ok());
  for (std::uint64_t i = 0; i < kMaxLandings; ++i) far_sends_control(announcement(i, 100));
  ASSERT_TRUE(sender_.progress().ok());
  ASSERT_TRUE(near_->step());
  ASSERT_TRUE(far_->progress(recorder_).ok());
  far_sends_control(acknowledgement(0, 100));
  far_sends_control(announcement(kMaxLandings, 100));
  const absl::Status status = sender_.progress();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(sender_.done(0));
}

TEST_F(FlowSenderTest, RefusesAcknowledgementsOfUnsentMessages) {
  ASSERT_TRUE(sender_.post(message_.buffer(), 600).ok());
  far_sends_control(acknowledgement(0, 600));
  EXPECT_THAT(error(), AllOf(HasSubstr("acknowledged 600 bytes of message 0"), HasSubstr("not what was sent")));
}

TEST_F(FlowSenderTest, RefusesAnAcknowledgementOfAMessageNotPosted) {
  far_sends_control(acknowledgement(17, 0));
  EXPECT_THAT(error(), HasSubstr("message 17"));
}

TEST_F(FlowSenderTest, RefusesAnAcknowledgementBeforeTheLastChunk) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 600).ok());
  far_sends_control(announcement(0, 600));
  ASSERT_TRUE(sender_.progress().ok());
  far_sends_control(acknowledgement(0, 600));
  EXPECT_THAT(error(), HasSubstr("not what was sent"));
}

TEST_F(FlowSenderTest, RefusesAnAcknowledgementOfAnotherSize) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 100).ok());
  far_sends_control(announcement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());
  deliver();
  far_sends_control(acknowledgement(0, 99));
  EXPECT_THAT(error(), HasSubstr("acknowledged 99 bytes"));
}

TEST_F(FlowSenderTest, RefusesAnAcknowledgementTwice) {
  far_lands(0);
  ASSERT_TRUE(sender_.post(message_.buffer(), 100).ok());
  far_sends_control(announcement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());
  deliver();
  far_sends_control(acknowledgement(0, 100));
  ASSERT_TRUE(sender_.progress().ok());
  ASSERT_TRUE(sender_.done(0));
  far_sends_control(acknowledgement(0, 100));
  EXPECT_THAT(error(), HasSubstr("message 0"));
}

TEST_F(FlowSenderTest, RefusesData) {
  far_->send(Frame{FrameKind::kChunk, 100, 0, 0, 100}, message_.buffer());
  deliver();
  EXPECT_THAT(error(), HasSubstr("has not been announced"));
}

class FlowReceiverTest : public HandPlayedFlow {
 protected:
  std::string error() {
    const absl::Status status = receiver_.progress();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
  void far_sends(const Frame& chunk) {
    ASSERT_TRUE(far_->can_send());
    far_->send(chunk, SendBuffer{message_.buffer().data + chunk.offset, 0});
    deliver();
  }

  FlowReceiver receiver_{*near_};
  test::ReceivedMessage landing_{1000};
  const test::SentMessage message_{0, 4096};
};

TEST_F(FlowReceiverTest, AnnouncesThenAcknowledgesOnceComplete) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  deliver();
  ASSERT_EQ(recorder_.controls.size(), 1U);
  EXPECT_EQ(recorder_.controls[0], announcement(0, 1000));
  far_sends(Frame{FrameKind::kChunk, 256, 0, 0, 300});
  ASSERT_TRUE(receiver_.progress().ok());
  deliver();
  EXPECT_FALSE(receiver_.done(0));
  EXPECT_EQ(recorder_.controls.size(), 1U);
  far_sends(Frame{FrameKind::kChunk, 44, 0, 256, 300});
  ASSERT_TRUE(receiver_.progress().ok());
  deliver();
  EXPECT_TRUE(receiver_.done(0));
  EXPECT_EQ(receiver_.size(0), 300U);
  EXPECT_TRUE(landing_.holds(0, 300));
  ASSERT_EQ(recorder_.controls.size(), 2U);
  EXPECT_EQ(recorder_.controls[1], acknowledgement(0, 300));
}

TEST_F(FlowReceiverTest, HasRoomForThirtyTwo) {
  std::deque<test::ReceivedMessage> landings;
  for (std::size_t i = 0; i < kMaxLandings; ++i) {
    ASSERT_TRUE(receiver_.can_post());
    landings.emplace_back(8);
    ASSERT_TRUE(receiver_.post(landings.back().landing()).ok());
  }
  EXPECT_FALSE(receiver_.can_post());
}

TEST_F(FlowReceiverTest, RefusesUnannouncedData) {
  far_sends(Frame{FrameKind::kChunk, 100, 0, 0, 100});
  EXPECT_THAT(error(), AllOf(HasSubstr("message 0"), HasSubstr("has not been announced")));
}

TEST_F(FlowReceiverTest, RefusesDataForTheWrongMessage) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 100, kMaxLandings, 0, 100});
  EXPECT_THAT(error(), HasSubstr("message 32"));
  EXPECT_TRUE(landing_.holds(0, 0));
}

TEST_F(FlowReceiverTest, RefusesAMessageThatDoesNotFit) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 0, 1001});
  EXPECT_THAT(error(), HasSubstr("does not fit"));
  EXPECT_TRUE(landing_.holds(0, 0));
}

TEST_F(FlowReceiverTest, RefusesAGap) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 256, 1000});
  EXPECT_THAT(error(), AllOf(HasSubstr("chunk at 256"), HasSubstr("not the one expected")));
  EXPECT_FALSE(receiver_.done(0));
}

TEST_F(FlowReceiverTest, RefusesAChunkTwice) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 0, 1000});
  ASSERT_TRUE(receiver_.progress().ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 0, 1000});
  EXPECT_THAT(error(), HasSubstr("chunk at 0"));
}

TEST_F(FlowReceiverTest, RefusesAMessageThatChangesItsSize) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 0, 512});
  ASSERT_TRUE(receiver_.progress().ok());
  far_sends(Frame{FrameKind::kChunk, 256, 0, 256, 1000});
  EXPECT_THAT(error(), HasSubstr("1000 bytes"));
}

TEST_F(FlowReceiverTest, RefusesDataForACompleteMessage) {
  ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
  far_sends(Frame{FrameKind::kChunk, 100, 0, 0, 100});
  ASSERT_TRUE(receiver_.progress().ok());
  ASSERT_TRUE(receiver_.done(0));
  landing_.reuse();
  far_sends(Frame{FrameKind::kChunk, 100, 0, 0, 100});
  EXPECT_FALSE(error().empty());
  EXPECT_TRUE(landing_.still_reused());
}

TEST_F(FlowReceiverTest, RefusesControlFrames) {
  far_sends_control(announcement(0, 100));
  EXPECT_THAT(error(), HasSubstr("frame announce to a receiver"));
}

}  // namespace
}  // namespace cableway
