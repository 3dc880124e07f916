// What an RDMA hop does about a peer that breaks the protocol, about devices that fail, and about ends that leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/rdma/rdma_chunk_link.h"
#include "tests/core/flow/played_hop.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using What = RdmaFrame::What;

// Reports writes by other tickets than theirs.
class MisreportingPair final : public RdmaQueuePair {
 public:
  explicit MisreportingPair(std::unique_ptr<RdmaQueuePair> pair) : pair_(std::move(pair)) {}

  void misreport(std::uint64_t ticket) { ticket_ = ticket; }

  RdmaEndpoint endpoint() const override { return pair_->endpoint(); }
  std::span<const std::byte> mailbox() const override { return pair_->mailbox(); }
  absl::Status connect(const RdmaEndpoint& other) override { return pair_->connect(other); }
  absl::Status post(std::span<const RdmaWrite> writes) override { return pair_->post(writes); }
  absl::Status expect_notices(std::uint32_t count) override { return pair_->expect_notices(count); }
  absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) override {
    const absl::StatusOr<std::size_t> polled = pair_->poll(completions);
    for (std::size_t i = 0; polled.ok() && ticket_.has_value() && i < *polled; ++i) completions[i].ticket = *ticket_;
    return polled;
  }
  void fence() override { pair_->fence(); }

 private:
  const std::unique_ptr<RdmaQueuePair> pair_;
  std::optional<std::uint64_t> ticket_;
};

class RdmaFault : public test::PlayedHop {
 protected:
  static Frame acknowledgement(std::uint64_t message) { return Frame{FrameKind::kAck, 0, message, 0, 64}; }
  void offer_slots(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) played_.tell(What::kSlot, played_.address() + 64 * i, played_.remote_key());
    ASSERT_TRUE(turn().ok());
  }
  // One of 64 bytes for each message, on their way.
  void send_chunks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) link_->send(chunk(64, i), buffer_);
    ASSERT_TRUE(link_->flush(owner_).ok());
  }
  // Of all up to `message`, over the connection beside the hop.
  void leave_with_acknowledgement(std::uint64_t message, absl::string_view reason) {
    const Frame last = acknowledgement(message);
    far_lifeline_->leave({&last, 1}, reason);
    link_->on_lifeline();
  }
};

TEST_F(RdmaFault, EndsOverAFrameThatIsMalformed) {
  make_taking();
  RdmaFrameBytes bytes = encode_rdma_frame(RdmaFrame{What::kTaken, {}, 0, 0, 0});
  bytes[1] = std::byte{0x99};
  played_.tell(bytes, 1);
  EXPECT_THAT(why(), HasSubstr("unknown kind"));
}

// Its queue pair misreports what the link has written.
class RdmaReports : public RdmaFault {
 protected:
  RdmaReports() {
    auto [near, far] = network_.make_pair(device_, far_device_);
    const RdmaEndpoint far_end = far->endpoint();
    played_.join(std::move(far), near->endpoint());
    auto pair = std::make_unique<MisreportingPair>(std::move(near));
    reports_ = pair.get();
    link_ = std::make_unique<RdmaChunkLink>(std::move(pair), far_end, test::FakeLifeline::make_pair().first,
                                            RdmaChunkLink::Place{false, false, 0});
    played_.tell(What::kSlot, played_.address(), played_.remote_key());
    played_.tell(What::kSlot, played_.address() + 512, played_.remote_key());
  }
  // Two writes, and before the first there was one that told of this end.
  void send(std::uint64_t message) {
    ASSERT_TRUE(turn().ok());
    ASSERT_TRUE(link_->can_send());
    link_->send(chunk(100, message), buffer_);
    ASSERT_TRUE(turn().ok());
  }

  MisreportingPair* reports_ = nullptr;
};

TEST_F(RdmaReports, EndTheHopWhereTheyGoBack) {
  send(0);
  ASSERT_TRUE(turn().ok());
  ASSERT_THAT(owner_.sent, SizeIs(1));
  send(1);
  reports_->misreport(3);
  EXPECT_EQ(why(), "the device reports write 3 of 5 after write 3");
  EXPECT_THAT(owner_.sent, SizeIs(1));
}

TEST_F(RdmaReports, EndTheHopWhereTheyTellOfWhatWasNotPosted) {
  send(0);
  reports_->misreport(4);
  EXPECT_EQ(why(), "the device reports write 4 of 3 after write 0");
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, EndsOverANoticeThatIsNotTheNext) {
  make_taking();
  played_.tell(encode_rdma_frame(RdmaFrame{What::kTaken, {}, 0, 0, 0}), 5);
  EXPECT_THAT(why(), HasSubstr("notice 5 where 1 was expected"));
}

TEST_F(RdmaFault, EndsOverNewsOfFramesThatWereNotSent) {
  make_taking();
  played_.tell(RdmaFrame{What::kTaken, {}, 0, 0, 1});
  EXPECT_THAT(why(), HasSubstr("it has taken 1 frames, of fewer that were sent"));
}

TEST_F(RdmaFault, EndsOverAChunkInASlotThatItDidNotOffer) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.tell(chunk(64), reinterpret_cast<std::uint64_t>(slot(1).data()));
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
  EXPECT_THAT(owner_.slots, IsEmpty());
}

TEST_F(RdmaFault, EndsOverAChunkBesideItsSlotsBeginning) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.tell(chunk(64), reinterpret_cast<std::uint64_t>(slot(0).data()) + 64);
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
}

TEST_F(RdmaFault, EndsOverAChunkThatIsLargerThanItsSlot) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.tell(chunk(test::kSlotRoom + 128), reinterpret_cast<std::uint64_t>(slot(0).data()));
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
}

TEST_F(RdmaFault, EndsOverASlotThatIsUsedTwice) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  fill(slot(0), 64);
  fill(slot(0), 64);
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
  EXPECT_THAT(owner_.slots, ElementsAre(&slot(0)));
}

TEST_F(RdmaFault, EndsOverAChunkForALandingThatWasNotAnnounced) {
  make_taking();
  played_.tell(chunk(64, 3));
  EXPECT_THAT(why(), HasSubstr("chunk of message 3, for which no receive is posted"));
  EXPECT_THAT(owner_.landed, IsEmpty());
}

TEST_F(RdmaFault, EndsOverAMessageThatDoesNotFitItsLanding) {
  make_taking();
  std::vector<std::byte> landing(100);
  ASSERT_TRUE(link_->post_landing(0, Landing{landing.data(), landing.size(), 1}).ok());
  played_.tell(chunk(101));
  EXPECT_THAT(why(), HasSubstr("for which no receive is posted"));
}

TEST_F(RdmaFault, EndsOverASlotThatIsReturnedUnasked) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.tell(What::kReturn, reinterpret_cast<std::uint64_t>(slot(0).data()));
  EXPECT_THAT(why(), HasSubstr("returned a slot that it was not asked for"));
}

TEST_F(RdmaFault, EndsOverMoreSlotsThanThereMayBe) {
  make_sending();
  for (std::size_t i = 0; i <= RdmaChunkLink::kMaxSlots; ++i) played_.tell(What::kSlot, 64 + i, 1);
  EXPECT_THAT(why(), HasSubstr("more slots than there may be"));
}

TEST_F(RdmaFault, EndsOverAPeerThatOffersAndRecallsAndNeverListens) {
  make_sending();
  played_.makes_room(false);
  absl::Status status;
  for (int i = 0; status.ok() && i < 2000; ++i) {
    played_.heard();
    played_.tell(What::kSlot, 64, 1);
    played_.tell(What::kRecall, 64);
    status = turn();
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("wants more slots back than it has offered"));
}

TEST_F(RdmaFault, EndsOverAnAnnouncementWithoutAnAddress) {
  make_sending_to_destination();
  played_.tell(Frame{FrameKind::kAnnounce, 0, 0, 0, 0});  // no room, no address
  ASSERT_TRUE(turn().ok());
  played_.tell(Frame{FrameKind::kAnnounce, 0, 1, 0, 5});
  EXPECT_THAT(why(), HasSubstr("an announcement without an address"));
}

TEST_F(RdmaFault, EndsOverAKeyThatThePeerDoesNotHave) {
  make_sending();
  played_.tell(What::kSlot, played_.address(), played_.remote_key() + 0x100);
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  EXPECT_THAT(why(), HasSubstr("remote access error"));
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, SaysWhatTheDeviceSaidOfAFailedCompletion) {
  make_sending();
  played_.tell(What::kSlot, played_.address(), played_.remote_key());
  ASSERT_TRUE(turn().ok());
  pair_->fail_write(0, "local length error");
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  EXPECT_THAT(why(), HasSubstr("local length error"));
  EXPECT_THAT(owner_.sent, IsEmpty()) << "nobody knows whether it was sent";
  EXPECT_THAT(why(), HasSubstr("local length error")) << "it stays so";
}

TEST_F(RdmaFault, PeersOwnWordsSayMoreThanTheDevice) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  far_lifeline_->leave({}, "the disk is full");
  played_.pair().fence();
  ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, 0, 0, 1}).ok());
  ASSERT_TRUE(link_->flush(owner_).ok());
  network_.deliver_all();  // finds nobody
  const absl::Status status = link_->progress(owner_);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_EQ(status.message(), "the disk is full");
}

TEST_F(RdmaFault, NoticesThatThePeerHasLeftWithoutAWord) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  far_lifeline_->leave({}, "");
  absl::Status status;
  int turns = 0;
  for (; status.ok() && turns < 1000; ++turns) status = link_->progress(owner_);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_GT(turns, 100) << "looking is a system call";
}

TEST_F(RdmaFault, LooksAtOnceWhenThereIsNews) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  const std::size_t looks = lifeline_->looks();
  ASSERT_TRUE(turn().ok());
  EXPECT_EQ(lifeline_->looks(), looks);
  far_lifeline_->leave({}, "the disk is full");
  link_->on_lifeline();
  EXPECT_EQ(why(), "the disk is full");
}

TEST_F(RdmaFault, HearsEveryAcknowledgementOnce) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  played_.tell(acknowledgement(0));
  ASSERT_TRUE(turn().ok());
  played_.tell(acknowledgement(1));  // on its way when its end leaves
  network_.deliver_all();
  const std::vector<Frame> last{acknowledgement(0), acknowledgement(1), acknowledgement(2)};
  far_lifeline_->leave(last, "");
  link_->on_lifeline();
  EXPECT_TRUE(absl::IsCancelled(link_->progress(owner_)));
  EXPECT_THAT(owner_.controls, ElementsAre(acknowledgement(0), acknowledgement(1), acknowledgement(2)));
}

TEST_F(RdmaFault, RepeatsItsLatestAcknowledgementsWhenItLeaves) {
  make_taking();
  ASSERT_TRUE(turn().ok());
  for (std::uint64_t i = 0; i < kMaxLandings + 8; ++i) {
    ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, i, 0, i}).ok());
  }
  link_->fail("had enough");
  for (std::uint64_t i = 8; i < kMaxLandings + 8; ++i) {
    const auto said = far_lifeline_->look();
    ASSERT_TRUE(said.ok() && said->has_value()) << i;
    EXPECT_EQ(**said, (Frame{FrameKind::kAck, 0, i, 0, i}));
  }
  EXPECT_EQ(far_lifeline_->look().status(), absl::AbortedError("had enough"));
}

// Its own device may never say that it has done with the memory.
TEST_F(RdmaFault, WhatAnEndHasAcknowledgedBeforeItLeftIsSent) {
  make_sending();
  offer_slots(2);
  send_chunks(2);
  pair_->hold_completions(true);
  network_.deliver_all();
  leave_with_acknowledgement(1, "the disk is full");
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.controls, ElementsAre(acknowledgement(1)));
  EXPECT_THAT(owner_.sent, SizeIs(2));
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full") << "it stays so";
  EXPECT_EQ(link_->flush(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.sent, SizeIs(2));
}

TEST_F(RdmaFault, WhatAnEndHasNotAcknowledgedBeforeItLeftIsNot) {
  make_sending();
  offer_slots(3);
  send_chunks(3);
  pair_->hold_completions(true);
  network_.deliver_all();
  leave_with_acknowledgement(0, "");
  EXPECT_TRUE(absl::IsCancelled(link_->progress(owner_)));
  EXPECT_THAT(owner_.sent, SizeIs(1));
}

TEST_F(RdmaFault, WhatIsAcknowledgedIsSentThoughTheDeviceHasGivenUp) {
  make_sending();
  offer_slots(2);
  send_chunks(2);
  pair_->lose_acknowledgements(true);
  while (pair_->deliver()) continue;
  played_.tell(acknowledgement(0));
  while (played_.pair().deliver()) continue;
  ASSERT_TRUE(link_->progress(owner_).ok());
  EXPECT_THAT(owner_.sent, IsEmpty()) << "the device may still be asked for it";
  pair_->fail(absl::UnavailableError("transport retry counter exceeded"));
  EXPECT_EQ(link_->progress(owner_).message(), "transport retry counter exceeded");
  EXPECT_THAT(owner_.sent, SizeIs(1));
  EXPECT_EQ(link_->progress(owner_).message(), "transport retry counter exceeded");
}

// An owner that uses again what was sent, at once.
class ReusingOwner final : public ChunkLink::Sink {
 public:
  explicit ReusingOwner(std::function<void()> reuse) : reuse_(std::move(reuse)) {}
  absl::Status on_landed(const Frame&) override { return absl::OkStatus(); }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::OkStatus(); }
  absl::Status on_control(const Frame&) override { return absl::OkStatus(); }
  void on_sent(Slot*) override { reuse_(); }

 private:
  const std::function<void()> reuse_;
};

TEST_F(RdmaFault, WhatIsSentBecauseItIsAcknowledgedIsReadNoMore) {
  make_sending();
  offer_slots(2);
  send_chunks(1);
  pair_->lose_acknowledgements(true);
  while (pair_->deliver()) continue;
  leave_with_acknowledgement(0, "");
  int reused = 0;
  ReusingOwner sink([&] {
    ++reused;
    EXPECT_FALSE(link_->can_send());
    std::fill(payload_.begin(), payload_.end(), std::byte{1});
    network_.deliver_all();
  });
  EXPECT_TRUE(absl::IsCancelled(link_->progress(sink)));
  EXPECT_EQ(reused, 1);
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
  EXPECT_EQ(network_.changed_too_early(), 0U);
}

TEST_F(RdmaFault, AnEndThatHasLeftIsNewsAtOnceIfItHasNotAcknowledged) {
  make_sending();
  played_.tell(What::kSlot, played_.address(), played_.remote_key());
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  far_lifeline_->leave({}, "the disk is full");
  link_->on_lifeline();
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, NothingIsWrittenHereAfterTheFence) {
  make_taking();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  std::fill(played_.memory.begin(), played_.memory.end(), std::byte{9});
  fill(slot(0), 64);
  link_->fence();
  network_.deliver_all();
  EXPECT_EQ(slot(0).data()[0], std::byte{0});
  EXPECT_THAT(std::string(link_->progress(owner_).message()), HasSubstr("closed"));
  EXPECT_THAT(std::string(link_->flush(owner_).message()), HasSubstr("closed"));
  EXPECT_THAT(owner_.slots, IsEmpty());
  EXPECT_TRUE(absl::IsCancelled(far_lifeline_->look().status()));
}

TEST_F(RdmaFault, NothingIsReadHereAfterTheFence) {
  make_sending();
  played_.tell(What::kSlot, played_.address(), played_.remote_key());
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  link_->fence();
  std::fill(payload_.begin(), payload_.end(), std::byte{1});
  network_.deliver_all();
  EXPECT_THAT(played_.memory, testing::Each(std::byte{0}));
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(RdmaFault, BoundsWhatIsPosted) {
  make_taking();
  std::vector<std::byte> landing(8);
  for (std::size_t i = 0; i < kMaxLandings; ++i) {
    ASSERT_TRUE(link_->post_landing(i, Landing{landing.data(), landing.size(), 1}).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(link_->post_landing(kMaxLandings, Landing{landing.data(), 8, 1})));
}

}  // namespace
}  // namespace cableway
