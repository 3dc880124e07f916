#include "sim/memory_chunk_link.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cableway::sim {

std::vector<std::unique_ptr<Slot>> make_memory_slots(std::size_t count, std::size_t bytes) {
  std::vector<std::unique_ptr<Slot>> slots;
  for (std::size_t i = 0; i < count; ++i) slots.push_back(std::make_unique<MemorySlot>(bytes));
  return slots;
}

std::pair<std::unique_ptr<MemoryChunkLink>, std::unique_ptr<MemoryChunkLink>> MemoryChunkLink::make_pair() {
  std::unique_ptr<MemoryChunkLink> left(new MemoryChunkLink);
  std::unique_ptr<MemoryChunkLink> right(new MemoryChunkLink);
  left->peer_ = right.get();
  right->peer_ = left.get();
  return {std::move(left), std::move(right)};
}

void MemoryChunkLink::send(const Frame& chunk, SendBuffer payload) {
  sending_ = Sending{chunk, payload.data, nullptr};
}

void MemoryChunkLink::send(const Frame& chunk, Slot& slot) {
  sending_ = Sending{chunk, static_cast<MemorySlot&>(slot).data(), &slot};
}

absl::Status MemoryChunkLink::send_control(const Frame& control) {
  if (controls_.size() >= 2 * kMaxLandings) {
    return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
  }
  controls_.push_back(control);
  return absl::OkStatus();
}

absl::Status MemoryChunkLink::post_landing(std::uint64_t message, const Landing& landing) {
  if (landings_.size() >= kMaxLandings) {
    return absl::ResourceExhaustedError("more receives are posted than a flow may have");
  }
  landings_.push_back(Posted{message, landing});
  return absl::OkStatus();
}

void MemoryChunkLink::post_slot(Slot& slot) {
  slot.filled = 0;
  slot.drained = 0;
  takes_slots_ = true;
  slots_.push_back(&slot);
}

bool MemoryChunkLink::withdraw_slot(Slot& slot) {
  const auto posted = std::find(slots_.begin(), slots_.end(), &slot);
  if (posted == slots_.end()) return false;
  slots_.erase(posted);
  return true;
}

bool MemoryChunkLink::narrow() {
  wide_ = false;
  return !queue_held_;
}

absl::Status MemoryChunkLink::progress(Owner& owner) {
  while (!arrived_.empty()) {
    const Arrived next = arrived_.front();
    arrived_.pop_front();
    absl::Status status;
    if (next.frame.kind != FrameKind::kChunk) {
      status = owner.on_control(next.frame);
    } else if (next.slot != nullptr) {
      status = owner.on_chunk(next.frame, *next.slot);
    } else {
      status = owner.on_landed(next.frame);
    }
    if (!status.ok()) return status;
  }
  return flush(owner);
}

absl::Status MemoryChunkLink::flush(Owner& owner) {
  if (!dead_.ok()) return dead_;
  if (sent_.has_value()) {
    Slot* slot = *sent_;
    sent_.reset();
    sending_.reset();
    owner.on_sent(slot);
  }
  return absl::OkStatus();
}

bool MemoryChunkLink::step() {
  return dead_.ok() && (deliver_control() || deliver_chunk());
}

bool MemoryChunkLink::deliver_control() {
  if (controls_.empty()) return false;
  peer_->arrived_.push_back(Arrived{controls_.front(), nullptr});
  controls_.pop_front();
  bytes_moved_ += kFrameHeaderBytes;
  peer_->bytes_moved_ += kFrameHeaderBytes;
  return true;
}

bool MemoryChunkLink::deliver_chunk() {
  if (!sending_.has_value() || sent_.has_value()) return false;
  if (!peer_->accept_chunk(sending_->chunk, sending_->memory)) return false;
  if (sending_->slot != nullptr) sending_->slot->drained = sending_->chunk.payload;
  sent_ = sending_->slot;
  bytes_moved_ += kFrameHeaderBytes + sending_->chunk.payload;
  return true;
}

bool MemoryChunkLink::accept_chunk(const Frame& chunk, const std::byte* payload) {
  const auto landing = std::find_if(landings_.begin(), landings_.end(),
                                    [&](const Posted& posted) { return posted.message == chunk.message; });
  // A wire would bring these through decode_frame(), too: nothing else keeps a chunk inside its message.
  if (absl::StatusOr<Frame> frame = decode_frame(encode_frame(chunk)); !frame.ok()) {
    cut(frame.status());
    return false;
  }
  if (landing != landings_.end()) {
    if (chunk.size > landing->landing.capacity) {
      cut(absl::InvalidArgumentError(absl::StrCat("message ", chunk.message, " does not fit its receive")));
      return false;
    }
    if (chunk.payload > 0) std::memcpy(landing->landing.data + chunk.offset, payload, chunk.payload);
    if (chunk.offset + chunk.payload == chunk.size) landings_.erase(landing);
    arrived_.push_back(Arrived{chunk, nullptr});
  } else if (!takes_slots_) {
    cut(absl::InvalidArgumentError(
        absl::StrCat("peer sent data of message ", chunk.message, ", which has not been announced")));
    return false;
  } else {
    if (slots_.empty()) return false;
    auto& slot = static_cast<MemorySlot&>(*slots_.front());
    if (chunk.payload > slot.size()) {
      cut(absl::InvalidArgumentError(
          absl::StrCat("a chunk of ", chunk.payload, " bytes does not fit a slot of ", slot.size())));
      return false;
    }
    slots_.pop_front();
    if (chunk.payload > 0) std::memcpy(slot.data(), payload, chunk.payload);
    slot.filled = chunk.payload;
    arrived_.push_back(Arrived{chunk, &slot});
  }
  bytes_moved_ += kFrameHeaderBytes + chunk.payload;
  return true;
}

void MemoryChunkLink::fail(absl::string_view reason) {
  if (dead_.ok()) {
    while (deliver_control()) continue;
    peer_->cut(absl::AbortedError(reason));
  }
  fence();
}

void MemoryChunkLink::fence() {
  landings_.clear();
  arrived_.clear();
  sending_.reset();
  sent_.reset();
  controls_.clear();
  if (!dead_.ok()) return;
  dead_ = absl::FailedPreconditionError("the circuit is closed");
  peer_->cut(absl::CancelledError("the peer closed the connection"));
}

void MemoryChunkLink::cut(const absl::Status& reason) {
  if (!dead_.ok()) return;
  dead_ = reason;
  peer_->cut(reason);
}

}  // namespace cableway::sim
