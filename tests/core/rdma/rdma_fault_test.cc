// RDMA hops with a peer that breaks the protocol, devices that fail, and ends that leave.
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

constexpr HopLifeline::Failure kDiskIsFull{"the disk is full"};

// Reports writes with wrong tickets.
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
    for (std::size_t i = 0; i < count; ++i) played_.send(What::kSlot, played_.address() + 64 * i, played_.remote_key());
    ASSERT_TRUE(turn().ok());
  }
  // Sends a chunk of 64 bytes for each message.
  void send_chunks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) link_->send(chunk(64, i), buffer_);
    ASSERT_TRUE(link_->flush(owner_).ok());
  }
  // The other end leaves over the lifeline, acknowledging all messages up to `message`.
  void leave_with_acknowledgement(std::uint64_t message, const std::optional<HopLifeline::Failure>& failure) {
    const Frame last = acknowledgement(message);
    far_lifeline_->leave({&last, 1}, failure);
    link_->on_lifeline();
  }
};

TEST_F(RdmaFault, FailsOnAMalformedFrame) {
  make_receiving();
  RdmaFrameBytes bytes = encode_rdma_frame(RdmaFrame{What::kTaken, {}, 0, 0, 0});
  bytes[1] = std::byte{0x99};
  played_.send(bytes, 1);
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
    played_.send(What::kSlot, played_.address(), played_.remote_key());
    played_.send(What::kSlot, played_.address() + 512, played_.remote_key());
  }
  // Two writes; the first of all was the link's kTaken frame.
  void send(std::uint64_t message) {
    ASSERT_TRUE(turn().ok());
    ASSERT_TRUE(link_->can_send());
    link_->send(chunk(100, message), buffer_);
    ASSERT_TRUE(turn().ok());
  }

  MisreportingPair* reports_ = nullptr;
};

TEST_F(RdmaReports, FailTheHopIfTheyGoBack) {
  send(0);
  ASSERT_TRUE(turn().ok());
  ASSERT_THAT(owner_.sent, SizeIs(1));
  send(1);
  reports_->misreport(3);
  EXPECT_EQ(why(), "the device reports write 3 of 5 after write 3");
  EXPECT_THAT(owner_.sent, SizeIs(1));
}

TEST_F(RdmaReports, FailTheHopIfTheyExceedWhatWasPosted) {
  send(0);
  reports_->misreport(4);
  EXPECT_EQ(why(), "the device reports write 4 of 3 after write 0");
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, FailsOnANoticeOutOfOrder) {
  make_receiving();
  played_.send(encode_rdma_frame(RdmaFrame{What::kTaken, {}, 0, 0, 0}), 5);
  EXPECT_THAT(why(), HasSubstr("notice 5 where 1 was expected"));
}

TEST_F(RdmaFault, FailsOnTakenFramesThatWereNotSent) {
  make_receiving();
  played_.send(RdmaFrame{What::kTaken, {}, 0, 0, 1});
  EXPECT_THAT(why(), HasSubstr("it has taken 1 frames, of fewer that were sent"));
}

TEST_F(RdmaFault, FailsOnAChunkInASlotThatItDidNotOffer) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.send(chunk(64), reinterpret_cast<std::uint64_t>(slot(1).data()));
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
  EXPECT_THAT(owner_.slots, IsEmpty());
}

TEST_F(RdmaFault, FailsOnAChunkBesideItsSlotsStart) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.send(chunk(64), reinterpret_cast<std::uint64_t>(slot(0).data()) + 64);
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
}

TEST_F(RdmaFault, FailsOnAChunkLargerThanItsSlot) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.send(chunk(test::kSlotRoom + 128), reinterpret_cast<std::uint64_t>(slot(0).data()));
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
}

TEST_F(RdmaFault, FailsOnASlotUsedTwice) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  fill(slot(0), 64);
  fill(slot(0), 64);
  EXPECT_THAT(why(), HasSubstr("a chunk in a slot that it was not offered"));
  EXPECT_THAT(owner_.slots, ElementsAre(&slot(0)));
}

TEST_F(RdmaFault, FailsOnAChunkForAnUnannouncedLanding) {
  make_receiving();
  played_.send(chunk(64, 3));
  EXPECT_THAT(why(), HasSubstr("chunk of message 3, for which no receive is posted"));
  EXPECT_THAT(owner_.landed, IsEmpty());
}

TEST_F(RdmaFault, FailsOnAMessageLargerThanItsLanding) {
  make_receiving();
  std::vector<std::byte> landing(100);
  ASSERT_TRUE(link_->post_landing(0, Landing{landing.data(), landing.size(), 1}).ok());
  played_.send(chunk(101));
  EXPECT_THAT(why(), HasSubstr("for which no receive is posted"));
}

TEST_F(RdmaFault, FailsOnASlotReturnedWithoutARecall) {
  make_receiving();
  link_->post_slot(slot(0));
  ASSERT_TRUE(turn().ok());
  played_.send(What::kReturn, reinterpret_cast<std::uint64_t>(slot(0).data()));
  EXPECT_THAT(why(), HasSubstr("returned a slot that was not recalled"));
}

TEST_F(RdmaFault, FailsOnTooManySlots) {
  make_sending();
  for (std::size_t i = 0; i <= RdmaChunkLink::kMaxSlots; ++i) played_.send(What::kSlot, 64 + i, 1);
  EXPECT_THAT(why(), HasSubstr("more slots than allowed"));
}

TEST_F(RdmaFault, FailsOnAPeerThatOffersAndRecallsAndNeverReceives) {
  make_sending();
  played_.makes_room(false);
  absl::Status status;
  for (int i = 0; status.ok() && i < 2000; ++i) {
    played_.received();
    played_.send(What::kSlot, 64, 1);
    played_.send(What::kRecall, 64);
    status = turn();
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("recalls more slots than it has offered"));
}

TEST_F(RdmaFault, FailsOnAnAnnouncementWithoutAnAddress) {
  make_sending_to_destination();
  played_.send(Frame{FrameKind::kAnnounce, 0, 0, 0, 0});  // no room, no address
  ASSERT_TRUE(turn().ok());
  played_.send(Frame{FrameKind::kAnnounce, 0, 1, 0, 5});
  EXPECT_THAT(why(), HasSubstr("an announcement without an address"));
}

TEST_F(RdmaFault, FailsOnAKeyThatThePeerDoesNotHave) {
  make_sending();
  played_.send(What::kSlot, played_.address(), played_.remote_key() + 0x100);
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  EXPECT_THAT(why(), HasSubstr("remote access error"));
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, ReportsTheDeviceErrorOfAFailedCompletion) {
  make_sending();
  played_.send(What::kSlot, played_.address(), played_.remote_key());
  ASSERT_TRUE(turn().ok());
  pair_->fail_write(0, "local length error");
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  EXPECT_THAT(why(), HasSubstr("local length error"));
  EXPECT_THAT(owner_.sent, IsEmpty()) << "it may not have been sent";
  EXPECT_THAT(why(), HasSubstr("local length error")) << "the error is final";
}

TEST_F(RdmaFault, PrefersThePeersReasonToTheDeviceError) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  far_lifeline_->leave({}, kDiskIsFull);
  played_.pair().fence();
  ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, 0, 0, 1}).ok());
  ASSERT_TRUE(link_->flush(owner_).ok());
  network_.deliver_all();  // the other queue pair is fenced
  const absl::Status status = link_->progress(owner_);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_EQ(status.message(), "the disk is full");
}

TEST_F(RdmaFault, TellsThatThePeerHasGivenTheFlowUp) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  far_lifeline_->leave({}, HopLifeline::Failure{"the job has ended", FailureScope::kFlow});
  link_->on_lifeline();
  EXPECT_EQ(link_->progress(owner_), absl::NotFoundError("the job has ended"));
}

TEST_F(RdmaFault, DetectsThatThePeerHasClosed) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  far_lifeline_->leave({}, std::nullopt);
  absl::Status status;
  int turns = 0;
  for (; status.ok() && turns < 1000; ++turns) status = link_->progress(owner_);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_GT(turns, 100) << "reading the lifeline is a system call";
}

TEST_F(RdmaFault, ReadsTheLifelineAtOnceWhenNotified) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  const std::size_t looks = lifeline_->looks();
  ASSERT_TRUE(turn().ok());
  EXPECT_EQ(lifeline_->looks(), looks);
  far_lifeline_->leave({}, kDiskIsFull);
  link_->on_lifeline();
  EXPECT_EQ(why(), "the disk is full");
}

TEST_F(RdmaFault, ReportsEveryAcknowledgementOnce) {
  make_sending();
  ASSERT_TRUE(turn().ok());
  played_.send(acknowledgement(0));
  ASSERT_TRUE(turn().ok());
  played_.send(acknowledgement(1));  // in flight when its end leaves
  network_.deliver_all();
  const std::vector<Frame> last{acknowledgement(0), acknowledgement(1), acknowledgement(2)};
  far_lifeline_->leave(last, std::nullopt);
  link_->on_lifeline();
  EXPECT_TRUE(absl::IsCancelled(link_->progress(owner_)));
  EXPECT_THAT(owner_.controls, ElementsAre(acknowledgement(0), acknowledgement(1), acknowledgement(2)));
}

TEST_F(RdmaFault, RepeatsItsLatestAcknowledgementsWhenItLeaves) {
  make_receiving();
  ASSERT_TRUE(turn().ok());
  for (std::uint64_t i = 0; i < kMaxLandings + 8; ++i) {
    ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, i, 0, i}).ok());
  }
  link_->fail("had enough", FailureScope::kFlow);
  for (std::uint64_t i = 8; i < kMaxLandings + 8; ++i) {
    const auto next = far_lifeline_->look();
    ASSERT_TRUE(next.ok() && next->has_value()) << i;
    EXPECT_EQ(**next, (Frame{FrameKind::kAck, 0, i, 0, i}));
  }
  EXPECT_EQ(far_lifeline_->look().status(), absl::NotFoundError("had enough"));
}

// The local device may never report the completion.
TEST_F(RdmaFault, ChunksAcknowledgedBeforeTheEndAreSent) {
  make_sending();
  offer_slots(2);
  send_chunks(2);
  pair_->hold_completions(true);
  network_.deliver_all();
  leave_with_acknowledgement(1, kDiskIsFull);
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.controls, ElementsAre(acknowledgement(1)));
  EXPECT_THAT(owner_.sent, SizeIs(2));
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full") << "the error is final";
  EXPECT_EQ(link_->flush(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.sent, SizeIs(2));
}

TEST_F(RdmaFault, ChunksNotAcknowledgedBeforeTheEndAreNotSent) {
  make_sending();
  offer_slots(3);
  send_chunks(3);
  pair_->hold_completions(true);
  network_.deliver_all();
  leave_with_acknowledgement(0, std::nullopt);
  EXPECT_TRUE(absl::IsCancelled(link_->progress(owner_)));
  EXPECT_THAT(owner_.sent, SizeIs(1));
}

TEST_F(RdmaFault, AcknowledgedChunksAreSentAlthoughTheDeviceHasGivenUp) {
  make_sending();
  offer_slots(2);
  send_chunks(2);
  pair_->lose_acknowledgements(true);
  while (pair_->deliver()) continue;
  played_.send(acknowledgement(0));
  while (played_.pair().deliver()) continue;
  ASSERT_TRUE(link_->progress(owner_).ok());
  EXPECT_THAT(owner_.sent, IsEmpty()) << "the device may still retransmit it";
  pair_->fail(absl::UnavailableError("transport retry counter exceeded"));
  EXPECT_EQ(link_->progress(owner_).message(), "transport retry counter exceeded");
  EXPECT_THAT(owner_.sent, SizeIs(1));
  EXPECT_EQ(link_->progress(owner_).message(), "transport retry counter exceeded");
}

// An owner that reuses sent memory at once.
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

TEST_F(RdmaFault, ChunksSentByAcknowledgementAreNoLongerRead) {
  make_sending();
  offer_slots(2);
  send_chunks(1);
  pair_->lose_acknowledgements(true);
  while (pair_->deliver()) continue;
  leave_with_acknowledgement(0, std::nullopt);
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

TEST_F(RdmaFault, ReportsAtOnceAnEndThatLeftWithoutAcknowledging) {
  make_sending();
  played_.send(What::kSlot, played_.address(), played_.remote_key());
  ASSERT_TRUE(turn().ok());
  link_->send(chunk(64), buffer_);
  ASSERT_TRUE(link_->flush(owner_).ok());
  far_lifeline_->leave({}, kDiskIsFull);
  link_->on_lifeline();
  EXPECT_EQ(link_->progress(owner_).message(), "the disk is full");
  EXPECT_THAT(owner_.sent, IsEmpty());
}

TEST_F(RdmaFault, NothingIsWrittenHereAfterTheFence) {
  make_receiving();
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
  played_.send(What::kSlot, played_.address(), played_.remote_key());
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
  make_receiving();
  std::vector<std::byte> landing(8);
  for (std::size_t i = 0; i < kMaxLandings; ++i) {
    ASSERT_TRUE(link_->post_landing(i, Landing{landing.data(), landing.size(), 1}).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(link_->post_landing(kMaxLandings, Landing{landing.data(), 8, 1})));
}

}  // namespace
}  // namespace cableway
