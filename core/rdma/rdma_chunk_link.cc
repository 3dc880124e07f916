#include "core/rdma/rdma_chunk_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr std::uint64_t kPlaces = RdmaQueuePair::kMaxNotices;
// Places of the other side's mailbox that are reserved for kTaken frames, and for frames without payload.
constexpr std::uint64_t kPlacesForTaken = 4;
constexpr std::uint64_t kPlacesForControls = 64;
// Entries of the queue pair that are reserved for frames without payload.
constexpr std::uint64_t kWritesForControls = 64;
// A completion is requested at least once in this number of writes, so that entries become free.
constexpr std::uint64_t kReportEvery = 64;
// kRoomEvery: the number of taken frames whose places are freed together. kReportRoomEvery: the number at which a
// kTaken frame is sent if no other frame carries the count.
constexpr std::uint32_t kRoomEvery = 32;
constexpr std::uint64_t kReportRoomEvery = 64;
// Reading the lifeline is a system call, so a polling end does it only after this number of calls without progress.
constexpr std::uint32_t kLookEvery = 256;
constexpr std::size_t kPollAtOnce = 32;
constexpr std::size_t kPollsPerTurn = 8;

RegisteredSlot& rdma(Slot& slot) {
  return static_cast<RegisteredSlot&>(slot);
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

absl::Status broke_protocol(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("peer broke the protocol: ", what));
}

}  // namespace

RdmaChunkLink::RdmaChunkLink(std::unique_ptr<RdmaQueuePair> queue_pair, const RdmaEndpoint& other,
                             std::unique_ptr<HopLifeline> lifeline, Place place)
    : queue_pair_(std::move(queue_pair)),
      other_(other),
      lifeline_(std::move(lifeline)),
      place_(place),
      begun_(!place.accepted) {
  credits_.reserve(kMaxSlots);
  offered_.reserve(kMaxSlots);
  // The accepting end sends nothing before it receives a frame.
  if (!place.accepted) queue(RdmaFrame{RdmaFrame::What::kTaken, {}, 0, 0, 0});
}

RdmaChunkLink::~RdmaChunkLink() {
  fence();
}

bool RdmaChunkLink::mailbox_has_room(std::uint64_t reserved) const {
  return frames_sent_ - frames_taken_there_ + reserved < kPlaces;
}

bool RdmaChunkLink::queue_has_room(std::uint64_t writes) const {
  return writes_posted_ - writes_reported_ + writes <= RdmaQueuePair::kMaxWrites;
}

bool RdmaChunkLink::can_send() const {
  return begun_ && broken_.ok() && batched_ + 2 <= kBatch && outgoing_end_ - outgoing_first_ < kMaxChunks &&
         outgoing_bytes_ < kMaxBytes && mailbox_has_room(kPlacesForTaken + kPlacesForControls) &&
         queue_has_room(2 + kWritesForControls) && (place_.last_hop || !credits_.empty());
}

void RdmaChunkLink::send(const Frame& chunk, SendBuffer payload) {
  send_chunk(chunk, payload.data, payload.key, nullptr);
}

void RdmaChunkLink::send(const Frame& chunk, Slot& slot) {
  send_chunk(chunk, rdma(slot).data(), rdma(slot).keys(place_.device).local, &slot);
}

void RdmaChunkLink::send_chunk(const Frame& chunk, const std::byte* data, std::uint32_t local_key, Slot* slot) {
  const absl::StatusOr<Credit> to = destination(chunk);
  if (!to.ok()) {
    broken_ = to.status();
    return;
  }
  if (chunk.payload > 0) {
    batch_[batched_++] = RdmaWrite{
        .data = data, .bytes = chunk.payload, .local_key = local_key, .to = to->address, .remote_key = to->key};
    ++writes_posted_;
  }
  // Slots are identified by address, landings by message.
  add_frame(RdmaFrame{RdmaFrame::What::kFrame, chunk, place_.last_hop ? 0 : to->address, 0, 0}, true);
  outgoing_[outgoing_end_++ % kMaxChunks] = Outgoing{writes_posted_, chunk.message, chunk.payload, slot};
  outgoing_bytes_ += chunk.payload;
  bytes_moved_ += kRdmaFrameBytes + chunk.payload;
}

absl::StatusOr<RdmaChunkLink::Credit> RdmaChunkLink::destination(const Frame& chunk) {
  if (!place_.last_hop) {
    const Credit credit = credits_.front();
    credits_.erase(credits_.begin());
    return credit;
  }
  const Target& target = targets_[chunk.message % kMaxLandings];
  const bool fits = chunk.offset <= target.capacity && chunk.payload <= target.capacity - chunk.offset;
  if (!target.active || target.message != chunk.message || !fits) {
    return broke_protocol(absl::StrCat("a chunk at ", chunk.offset, " of message ", chunk.message,
                                       " has no room that its receiver has announced"));
  }
  return Credit{target.address + chunk.offset, target.key};
}

void RdmaChunkLink::add_frame(const RdmaFrame& frame, bool reports) {
  const std::uint64_t place = frames_sent_ % kPlaces;
  RdmaFrame stamped = frame;
  stamped.taken = static_cast<std::uint32_t>(frames_made_room_for_);
  room_reported_ = frames_made_room_for_;
  batch_frames_[batched_] = encode_rdma_frame(stamped);
  ++writes_posted_;
  const bool signaled = reports || writes_posted_ - writes_asked_ >= kReportEvery;
  if (signaled) writes_asked_ = writes_posted_;
  batch_[batched_] = RdmaWrite{.data = batch_frames_[batched_].data(),
                               .bytes = kRdmaFrameBytes,
                               .to = other_.mailbox + place * RdmaQueuePair::kMailboxPlaceBytes,
                               .remote_key = other_.mailbox_key,
                               .inlined = true,
                               .notifies = true,
                               .notice = static_cast<std::uint32_t>(frames_sent_),
                               .reports = signaled,
                               .ticket = writes_posted_};
  ++batched_;
  ++frames_sent_;
}

void RdmaChunkLink::queue(const RdmaFrame& frame) {
  if (frame.what == RdmaFrame::What::kFrame) ++flow_frames_;
  if (frame.what == RdmaFrame::What::kReturn) ++returns_;
  control_ring_[(control_first_ + controls_++) % kMaxControls] = frame;
}

absl::Status RdmaChunkLink::send_control(const Frame& control) {
  if (flow_frames_ == kMaxQueuedControls) {
    return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
  }
  RdmaFrame frame{RdmaFrame::What::kFrame, control, 0, 0, 0};
  const Posted& posted = posted_[control.message % kMaxLandings];
  if (control.kind == FrameKind::kAnnounce && posted.active && posted.message == control.message) {
    frame.address = address_of(posted.landing.data);
    frame.key = posted.landing.key;
  }
  if (control.kind == FrameKind::kAck) acknowledgements_[acknowledgements_sent_++ % kMaxLandings] = control;
  queue(frame);
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::post_landing(std::uint64_t message, const Landing& landing) {
  Posted& posted = posted_[message % kMaxLandings];
  if (posted.active) return absl::ResourceExhaustedError("more landings are posted than allowed");
  posted = Posted{message, landing, true};
  return absl::OkStatus();
}

void RdmaChunkLink::post_slot(Slot& slot) {
  slot.filled = slot.drained = 0;
  const RegisteredSlot& offered = rdma(slot);
  offered_.push_back(Offered{&rdma(slot)});
  queue(RdmaFrame{RdmaFrame::What::kSlot, {}, address_of(offered.data()), offered.keys(place_.device).remote, 0});
}

bool RdmaChunkLink::withdraw_slot(Slot& slot) {
  const auto offered =
      std::find_if(offered_.begin(), offered_.end(), [&](const Offered& each) { return each.slot == &slot; });
  if (offered == offered_.end()) return false;
  if (offered->returned) {
    offered_.erase(offered);
    return true;
  }
  if (!std::exchange(offered->recalled, true)) {
    queue(RdmaFrame{RdmaFrame::What::kRecall, {}, address_of(rdma(slot).data()), 0, 0});
  }
  return false;
}

void RdmaChunkLink::add_controls() {
  while (controls_ > 0 && batched_ < kBatch && mailbox_has_room(kPlacesForTaken) && queue_has_room(1)) {
    const RdmaFrame& next = control_ring_[control_first_++ % kMaxControls];
    --controls_;
    if (next.what == RdmaFrame::What::kFrame) --flow_frames_;
    if (next.what == RdmaFrame::What::kReturn) --returns_;
    add_frame(next, false);
    bytes_moved_ += kRdmaFrameBytes;
  }
}

void RdmaChunkLink::add_taken() {
  if (frames_made_room_for_ - room_reported_ < kReportRoomEvery || batched_ == kBatch) return;
  if (!mailbox_has_room(0) || !queue_has_room(1)) return;
  add_frame(RdmaFrame{RdmaFrame::What::kTaken, {}, 0, 0, 0}, false);
  bytes_moved_ += kRdmaFrameBytes;
}

absl::Status RdmaChunkLink::post_batch() {
  if (batched_ == 0) return absl::OkStatus();
  const std::size_t count = std::exchange(batched_, 0);
  return queue_pair_->post(std::span(batch_).first(count));
}

absl::Status RdmaChunkLink::flush(Sink& sink) {
  if (fenced_) return absl::FailedPreconditionError("the circuit is closed");
  if (!broken_.ok()) return broken_;
  if (!begun_) return absl::OkStatus();
  while (true) {
    add_controls();
    add_taken();
    const bool was_full = batched_ == kBatch;
    if (absl::Status posted = post_batch(); !posted.ok()) return explain(posted, sink);
    if (!was_full) return absl::OkStatus();
  }
}

absl::Status RdmaChunkLink::progress(Sink& sink) {
  if (fenced_) return absl::FailedPreconditionError("the circuit is closed");
  if (!broken_.ok()) return broken_;
  const std::uint64_t before = bytes_moved_;
  if (absl::Status status = poll_queue_pair(sink); !status.ok()) return explain(status, sink);
  if (absl::Status status = flush(sink); !status.ok()) return status;
  empty_turns_ = bytes_moved_ == before ? empty_turns_ + 1 : 0;
  if (lifeline_news_ || empty_turns_ >= kLookEvery) {
    lifeline_news_ = false;
    empty_turns_ = 0;
    if (absl::Status status = look_at_lifeline(sink); !status.ok()) return status;
  }
  return left_.ok() ? left_ : end(left_, sink);
}

// Acknowledged chunks have landed. Their local completion may be late, or never come: a lost transport-level
// acknowledgement of the other device is not repeated once its queue pair is gone. So this function does not wait for
// it; the fence ensures that the memory is no longer read.
absl::Status RdmaChunkLink::end(const absl::Status& why, Sink& sink) {
  std::uint64_t ticket = 0;
  for (std::uint64_t i = outgoing_first_; i != outgoing_end_; ++i) {
    const Outgoing& sent = outgoing_[i % kMaxChunks];
    if (sent.message >= acknowledged_there_) break;
    ticket = sent.ticket;
  }
  if (ticket == 0) return why;
  queue_pair_->fence();
  broken_ = why;  // set first, so that can_send() is false when the owner tries to send from on_sent()
  complete_chunks(ticket, sink);
  return why;
}

absl::Status RdmaChunkLink::look_at_lifeline(Sink& sink) {
  while (left_.ok()) {
    const absl::StatusOr<std::optional<Frame>> next = lifeline_->look();
    if (next.ok() && !next->has_value()) return absl::OkStatus();
    // The queue pair may hold frames that were written earlier, and may have failed by now.
    poll_queue_pair(sink).IgnoreError();
    if (!next.ok()) {
      left_ = next.status();
    } else if (absl::Status status = take_acknowledgement(**next, sink); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::take_acknowledgement(const Frame& acknowledgement, Sink& sink) {
  if (acknowledgement.message < acknowledged_there_) return absl::OkStatus();
  acknowledged_there_ = acknowledgement.message + 1;
  return sink.on_control(acknowledgement);
}

absl::Status RdmaChunkLink::poll_queue_pair(Sink& sink) {
  std::array<RdmaCompletion, kPollAtOnce> completions;
  for (std::size_t polls = 0; polls < kPollsPerTurn; ++polls) {
    const absl::StatusOr<std::size_t> count = queue_pair_->poll(completions);
    if (!count.ok()) return count.status();
    for (const RdmaCompletion& completion : std::span(completions).first(*count)) {
      if (absl::Status status = take(completion, sink); !status.ok()) return status;
    }
    if (*count < completions.size()) break;
  }
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::take(const RdmaCompletion& completion, Sink& sink) {
  if (completion.kind == RdmaCompletion::Kind::kNoticed) return take_notice(completion.notice, sink);
  return take_written(completion.ticket, sink);
}

absl::Status RdmaChunkLink::take_written(std::uint64_t ticket, Sink& sink) {
  if (ticket <= writes_reported_ || ticket > writes_asked_) {
    return absl::InternalError(
        absl::StrCat("the device reports write ", ticket, " of ", writes_asked_, " after write ", writes_reported_));
  }
  writes_reported_ = ticket;
  complete_chunks(ticket, sink);
  return absl::OkStatus();
}

void RdmaChunkLink::complete_chunks(std::uint64_t ticket, Sink& sink) {
  while (outgoing_first_ != outgoing_end_ && outgoing_[outgoing_first_ % kMaxChunks].ticket <= ticket) {
    const Outgoing& sent = outgoing_[outgoing_first_++ % kMaxChunks];
    outgoing_bytes_ -= sent.bytes;
    Slot* slot = sent.slot;
    if (slot != nullptr) slot->drained = slot->filled;
    bytes_moved_ += kRdmaFrameBytes;
    sink.on_sent(slot);
  }
}

absl::Status RdmaChunkLink::take_notice(std::uint32_t notice, Sink& sink) {
  if (notice != static_cast<std::uint32_t>(frames_taken_)) {
    return broke_protocol(
        absl::StrCat("notice ", notice, " where ", static_cast<std::uint32_t>(frames_taken_), " was expected"));
  }
  // Copied before it is checked: the other side can write this memory at any time.
  RdmaFrameBytes bytes;
  std::memcpy(bytes.data(), &queue_pair_->mailbox()[frames_taken_ % kPlaces * RdmaQueuePair::kMailboxPlaceBytes],
              bytes.size());
  ++frames_taken_;
  bytes_moved_ += kRdmaFrameBytes;
  const absl::StatusOr<RdmaFrame> frame = decode_rdma_frame(bytes);
  if (!frame.ok()) return frame.status();
  begun_ = true;
  const std::uint32_t newly_taken = frame->taken - static_cast<std::uint32_t>(frames_taken_there_);
  if (newly_taken > frames_sent_ - frames_taken_there_) {
    return broke_protocol(absl::StrCat("it has taken ", frame->taken, " frames, of fewer that were sent"));
  }
  frames_taken_there_ += newly_taken;
  if (frames_taken_ - frames_made_room_for_ >= kRoomEvery) {
    if (absl::Status status = queue_pair_->expect_notices(kRoomEvery); !status.ok()) return status;
    frames_made_room_for_ += kRoomEvery;
  }
  return take_frame(*frame, sink);
}

absl::Status RdmaChunkLink::take_frame(const RdmaFrame& frame, Sink& sink) {
  switch (frame.what) {
    case RdmaFrame::What::kTaken:
      return absl::OkStatus();
    case RdmaFrame::What::kSlot:
      return take_slot(frame);
    case RdmaFrame::What::kRecall:
      return give_back(frame);
    case RdmaFrame::What::kReturn:
      return take_returned(frame);
    case RdmaFrame::What::kFrame:
      break;
  }
  if (frame.frame.kind == FrameKind::kAnnounce) return take_announcement(frame, sink);
  if (frame.frame.kind == FrameKind::kAck) return take_acknowledgement(frame.frame, sink);
  if (frame.frame.kind != FrameKind::kChunk) return sink.on_control(frame.frame);
  return frame.address == 0 ? take_landed(frame.frame, sink) : take_chunk(frame, sink);
}

absl::Status RdmaChunkLink::take_announcement(const RdmaFrame& frame, Sink& sink) {
  if (place_.last_hop) {
    if (frame.address == 0 && frame.frame.size > 0) return broke_protocol("an announcement without an address");
    targets_[frame.frame.message % kMaxLandings] =
        Target{frame.frame.message, frame.address, frame.frame.size, frame.key, true};
  }
  return sink.on_control(frame.frame);
}

absl::Status RdmaChunkLink::take_chunk(const RdmaFrame& frame, Sink& sink) {
  const auto offered = std::find_if(offered_.begin(), offered_.end(), [&](const Offered& each) {
    return address_of(each.slot->data()) == frame.address && !each.returned;
  });
  if (offered == offered_.end() || frame.frame.payload > offered->slot->capacity()) {
    return broke_protocol("a chunk in a slot that it was not offered");
  }
  RegisteredSlot& slot = *offered->slot;
  offered_.erase(offered);
  slot.filled = frame.frame.payload;
  slot.drained = 0;
  bytes_moved_ += frame.frame.payload;
  return sink.on_chunk(frame.frame, slot);
}

absl::Status RdmaChunkLink::take_landed(const Frame& chunk, Sink& sink) {
  const Posted& posted = posted_[chunk.message % kMaxLandings];
  const bool fits = chunk.size <= posted.landing.capacity;
  if (!posted.active || posted.message != chunk.message || !fits) {
    return broke_protocol(absl::StrCat("a chunk of message ", chunk.message, ", for which no receive is posted"));
  }
  bytes_moved_ += chunk.payload;
  return sink.on_landed(chunk);
}

absl::Status RdmaChunkLink::take_slot(const RdmaFrame& frame) {
  if (credits_.size() == kMaxSlots) return broke_protocol("it offers more slots than allowed");
  credits_.push_back(Credit{frame.address, frame.key});
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::give_back(const RdmaFrame& frame) {
  const auto unused = std::find_if(credits_.begin(), credits_.end(),
                                   [&](const Credit& credit) { return credit.address == frame.address; });
  // A slot that has been used returns with its chunk.
  if (unused == credits_.end()) return absl::OkStatus();
  if (returns_ == kMaxSlots) return broke_protocol("it recalls more slots than it has offered");
  credits_.erase(unused);
  queue(RdmaFrame{RdmaFrame::What::kReturn, {}, frame.address, 0, 0});
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::take_returned(const RdmaFrame& frame) {
  const auto offered = std::find_if(offered_.begin(), offered_.end(), [&](const Offered& each) {
    return address_of(each.slot->data()) == frame.address && each.recalled && !each.returned;
  });
  if (offered == offered_.end()) return broke_protocol("it returned a slot that was not recalled");
  offered->returned = true;
  return absl::OkStatus();
}

absl::Status RdmaChunkLink::explain(const absl::Status& found, Sink& sink) {
  if (absl::Status status = look_at_lifeline(sink); !status.ok()) return status;
  return end(left_.ok() ? found : left_, sink);
}

void RdmaChunkLink::fail(absl::string_view reason, FailureScope scope) {
  leave(HopLifeline::Failure{reason, scope});
}

void RdmaChunkLink::fence() {
  leave(std::nullopt);
}

void RdmaChunkLink::leave(const std::optional<HopLifeline::Failure>& failure) {
  if (std::exchange(fenced_, true)) return;
  queue_pair_->fence();
  for (Posted& posted : posted_) posted.active = false;
  const std::uint64_t first = acknowledgements_sent_ - std::min<std::uint64_t>(acknowledgements_sent_, kMaxLandings);
  std::array<Frame, kMaxLandings> last;
  std::size_t count = 0;
  for (std::uint64_t i = first; i < acknowledgements_sent_; ++i) last[count++] = acknowledgements_[i % kMaxLandings];
  lifeline_->leave(std::span(last).first(count), failure);
}

}  // namespace cableway
