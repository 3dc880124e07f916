#include "core/rdma/rdma_chunk_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/core/flow/played_hop.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway {
namespace {

using test::PlayedEnd;
using test::RdmaRecorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using What = RdmaFrame::What;

class RdmaChunkLinkTest : public test::PlayedHop {};

TEST_F(RdmaChunkLinkTest, AcceptingEndSendsNothingBeforeItReceives) {
  make({false, true, 0});
  link_->post_slot(slot(0));
  ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, 0, 0, 1}).ok());
  EXPECT_FALSE(link_->can_send());
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(played_.received(), IsEmpty());
  played_.send(What::kTaken);
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(played_.received_kinds(), ElementsAre(What::kSlot, What::kFrame));
}

TEST_F(RdmaChunkLinkTest, ConnectingEndSendsAtOnce) {
  make_sending();
  EXPECT_FALSE(link_->can_send()) << "without a slot";
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(played_.received_kinds(), ElementsAre(What::kTaken));
}

TEST_F(RdmaChunkLinkTest, WritesChunksIntoSlotsOldestFirst) {
  make_sending();
  played_.send(What::kSlot, played_.address(), played_.remote_key());
  played_.send(What::kSlot, played_.address() + 512, played_.remote_key());
  ASSERT_TRUE(turn().ok());
  ASSERT_TRUE(link_->can_send());
  link_->send(chunk(100), buffer_);
  ASSERT_TRUE(link_->can_send());
  slot(0).filled = 64;
  link_->send(chunk(64, 1), slot(0));
  EXPECT_FALSE(link_->can_send());
  ASSERT_TRUE(turn().ok());
  EXPECT_EQ(played_.memory[99], std::byte{5});
  EXPECT_EQ(played_.memory[100], std::byte{0});
  EXPECT_EQ(played_.memory[512], slot(0).data()[0]);
  const std::vector<RdmaFrame> received = played_.received();
  ASSERT_THAT(received, SizeIs(3));
  EXPECT_EQ(received[1].frame, chunk(100));
  EXPECT_EQ(received[1].address, played_.address());
  EXPECT_EQ(received[2].frame, chunk(64, 1));
  EXPECT_EQ(received[2].address, played_.address() + 512);
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(owner_.sent, ElementsAre(nullptr, &slot(0)));
  EXPECT_EQ(slot(0).drained, 64U);
}

TEST_F(RdmaChunkLinkTest, WritesChunksIntoLandings) {
  make_sending_to_destination();
  const Frame announcement{FrameKind::kAnnounce, 0, 0, 0, 512};
  played_.send(announcement, played_.address() + 128, played_.remote_key());
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(owner_.controls, ElementsAre(announcement));
  ASSERT_TRUE(link_->can_send());
  link_->send(Frame{FrameKind::kChunk, 128, 0, 256, 512}, buffer_);
  ASSERT_TRUE(turn().ok());
  EXPECT_EQ(std::count(played_.memory.begin(), played_.memory.end(), std::byte{5}), 128);
  EXPECT_EQ(played_.memory[128 + 256], std::byte{5});
  const std::vector<RdmaFrame> received = played_.received();
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[1].address, 0U) << "a landing is identified by its message";
}

TEST_F(RdmaChunkLinkTest, SendsOnlyIntoAnnouncedMemory) {
  struct Case {
    const char* name;
    Frame chunk;
  };
  const Case cases[] = {{"never announced", Frame{FrameKind::kChunk, 64, 1, 0, 64}},
                        {"an earlier one of the same place", Frame{FrameKind::kChunk, 64, kMaxLandings, 0, 64}},
                        {"beyond the announced capacity", Frame{FrameKind::kChunk, 128, 0, 128, 256}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    PlayedEnd played(far_device_);
    auto [near, far] = network_.make_pair(device_, far_device_);
    const RdmaEndpoint far_end = far->endpoint();
    played.join(std::move(far), near->endpoint());
    RdmaChunkLink link(std::move(near), far_end, test::FakeLifeline::make_pair().first, {true, false, 0});
    played.send(Frame{FrameKind::kAnnounce, 0, 0, 0, 200}, played.address(), played.remote_key());
    network_.deliver_all();
    ASSERT_TRUE(link.progress(owner_).ok());
    link.send(each.chunk, buffer_);
    EXPECT_FALSE(link.can_send());
    EXPECT_THAT(std::string(link.flush(owner_).message()), HasSubstr("has no room that its receiver has announced"));
    EXPECT_FALSE(link.progress(owner_).ok());
    EXPECT_THAT(played.memory, testing::Each(std::byte{0}));
  }
}

TEST_F(RdmaChunkLinkTest, ReportsAChunkInItsSlot) {
  make_receiving();
  link_->post_slot(slot(0));
  link_->post_slot(slot(1));
  ASSERT_TRUE(turn().ok());
  const std::vector<RdmaFrame> received = played_.received();
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[1].address, reinterpret_cast<std::uint64_t>(slot(1).data()));
  EXPECT_EQ(received[1].key, slot(1).keys(0).remote);
  played_.memory[77] = std::byte{9};
  fill(slot(1), 100);
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(owner_.slots, ElementsAre(&slot(1)));
  EXPECT_EQ(slot(1).filled, 100U);
  EXPECT_EQ(slot(1).data()[77], std::byte{9});
}

TEST_F(RdmaChunkLinkTest, ReportsAChunkInItsLanding) {
  make_receiving();
  std::vector<std::byte> landing(300);
  const sim::StubMemory memory = device_.register_writable(landing);
  ASSERT_TRUE(link_->post_landing(7, Landing{landing.data(), landing.size(), memory.keys().remote}).ok());
  ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAnnounce, 0, 7, 0, landing.size()}).ok());
  ASSERT_TRUE(turn().ok());
  const std::vector<RdmaFrame> received = played_.received();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].address, reinterpret_cast<std::uint64_t>(landing.data()));
  EXPECT_EQ(received[0].key, memory.keys().remote);
  played_.send(chunk(300, 7));
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(owner_.landed, ElementsAre(chunk(300, 7)));
  // The message is complete, so its landing has ended.
  link_->end_landing(7);
  played_.send(chunk(300, 7));
  EXPECT_THAT(why(), HasSubstr("chunk of message 7, for which no receive is posted"));
}

TEST_F(RdmaChunkLinkTest, RecallsAnUnusedSlot) {
  make_receiving();
  EXPECT_FALSE(link_->withdraw_slot(slot(0))) << "never posted";
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  EXPECT_FALSE(link_->withdraw_slot(slot(0)));
  EXPECT_FALSE(link_->withdraw_slot(slot(0)));
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(played_.received_kinds(), ElementsAre(What::kSlot, What::kRecall)) << "recalled once";
  played_.send(What::kReturn, reinterpret_cast<std::uint64_t>(slot(0).data()));
  ASSERT_TRUE(turn().ok());
  EXPECT_TRUE(link_->withdraw_slot(slot(0)));
  EXPECT_FALSE(link_->withdraw_slot(slot(0)));
  fill(slot(0), 64);
  EXPECT_THAT(why(), HasSubstr("a slot that it was not offered"));
}

TEST_F(RdmaChunkLinkTest, AChunkMayCrossTheRecallOfItsSlot) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  EXPECT_FALSE(link_->withdraw_slot(slot(0)));
  fill(slot(0), 64);
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(owner_.slots, ElementsAre(&slot(0)));
  EXPECT_FALSE(link_->withdraw_slot(slot(0))) << "the owner has it already";
  // And it may be offered, and recalled, again.
  link_->post_slot(slot(0));
  EXPECT_FALSE(link_->withdraw_slot(slot(0)));
  ASSERT_TRUE(turn().ok());
  EXPECT_THAT(played_.received_kinds(), ElementsAre(What::kSlot, What::kRecall, What::kSlot, What::kRecall));
}

TEST_F(RdmaChunkLinkTest, ReturnsAnUnusedSlot) {
  make_sending();
  played_.send(What::kSlot, played_.address(), played_.remote_key());
  played_.send(What::kSlot, played_.address() + 512, played_.remote_key());
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  played_.received();
  played_.send(What::kRecall, played_.address());  // used: it returns with its chunk
  played_.send(What::kRecall, played_.address() + 512);
  ASSERT_TRUE(turn().ok());
  EXPECT_FALSE(link_->can_send());
  const std::vector<RdmaFrame> received = played_.received();
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[0].frame, chunk(64));
  EXPECT_EQ(received[1].what, What::kReturn);
  EXPECT_EQ(received[1].address, played_.address() + 512);
}

TEST_F(RdmaChunkLinkTest, NeverOverrunsTheMailboxOfAnEndThatOnlyReceives) {
  // Thousands of frames one way, and only kTaken frames the other way.
  test::RdmaHop hop(network_, device_, far_device_, 0, false);
  RdmaRecorder at_source;
  constexpr std::uint64_t kFrames = 5000;
  std::uint64_t said = 0;
  for (int turns = 0; at_source.controls.size() < kFrames && turns < 100'000; ++turns) {
    while (said < kFrames && hop.receiving->send_control(Frame{FrameKind::kAck, 0, said, 0, 1}).ok()) ++said;
    ASSERT_TRUE(hop.receiving->progress(owner_).ok());
    network_.deliver_all();
    if (turns % 7 != 0) continue;
    ASSERT_TRUE(hop.sending->progress(at_source).ok());
  }
  ASSERT_THAT(at_source.controls, SizeIs(kFrames));
  for (std::uint64_t i = 0; i < kFrames; ++i) ASSERT_EQ(at_source.controls[i].message, i);
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(RdmaChunkLinkTest, NeverOverrunsAMailboxWhenBothSend) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    sim::StubNetwork network({.seed = seed});
    test::RdmaHop hop(network, network.add_device(), network.add_device(), 0, false);
    RdmaRecorder at_source;
    RdmaRecorder at_relay;
    std::mt19937 random(seed);
    for (std::uint64_t said = 0; said < 20'000; ++said) {
      const Frame frame{FrameKind::kAnnounce, 0, said, 0, 1};
      hop.receiving->send_control(frame).IgnoreError();
      hop.sending->send_control(frame).IgnoreError();
      network.step();
      const bool source_is_next = random() % 2 == 0;
      if (random() % 20 != 0) continue;
      ASSERT_TRUE((source_is_next ? hop.sending->progress(at_source) : hop.receiving->progress(at_relay)).ok());
    }
    EXPECT_GT(at_source.controls.size(), 1000U);
    EXPECT_GT(at_relay.controls.size(), 1000U);
    ASSERT_TRUE(network.misuse().ok()) << network.misuse();
  }
}

TEST_F(RdmaChunkLinkTest, RefusesAFloodOfControlsAndStillOffersSlots) {
  make_receiving();
  played_.makes_room(false);
  absl::Status status;
  std::uint64_t taken = 0;
  for (; status.ok() && taken < 10'000; ++taken) {
    status = link_->send_control(Frame{FrameKind::kAck, 0, taken, 0, 1});
    ASSERT_TRUE(turn().ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(taken - 1, 252 + kMaxQueuedControls) << "a full mailbox, and what a conforming peer can cause";
  for (const auto& slot : slots_) link_->post_slot(*slot);
  for (const auto& slot : slots_) EXPECT_FALSE(link_->withdraw_slot(*slot));
  std::vector<RdmaFrame> received = played_.received();
  for (const std::uint32_t mailboxes : {1U, 2U}) {
    EXPECT_TRUE(played_.pair().expect_notices(252).ok());
    played_.send(RdmaFrame{What::kTaken, {}, 0, 0, 252 * mailboxes});
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(turn().ok());
    const std::vector<RdmaFrame> more = played_.received();
    received.insert(received.end(), more.begin(), more.end());
  }
  ASSERT_THAT(received, SizeIs(252 + kMaxQueuedControls + 2 * slots_.size()));
  for (std::uint64_t i = 0; i + 1 < taken; ++i) EXPECT_EQ(received[i].frame.message, i);
  EXPECT_EQ(received[taken - 1].what, What::kSlot);
  EXPECT_EQ(received.back().what, What::kRecall);
}

}  // namespace
}  // namespace cableway
