#include "sim/cable/memory_chunk_link.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cableway::sim {

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
  sending_ = Sending{chunk, static_cast<RegisteredSlot&>(slot).data(), &slot};
}

absl::Status MemoryChunkLink::send_control(const Frame& control) {
  if (controls_.size() >= kMaxQueuedControls) {
    return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
  }
  controls_.push_back(control);
  return absl::OkStatus();
}

bool MemoryChunkLink::narrow() {
  wide_ = false;
  return !queue_held_;
}

absl::Status MemoryChunkLink::progress(Sink& sink) {
  if (absl::Status status = inbox_.report(sink); !status.ok()) return status;
  return flush(sink);
}

absl::Status MemoryChunkLink::flush(Sink& sink) {
  if (!dead_.ok()) return dead_;
  if (sent_.has_value()) {
    Slot* slot = *sent_;
    sent_.reset();
    sending_.reset();
    sink.on_sent(slot);
  }
  return absl::OkStatus();
}

bool MemoryChunkLink::step() {
  return dead_.ok() && (deliver_control() || deliver_chunk());
}

bool MemoryChunkLink::deliver_control() {
  if (controls_.empty()) return false;
  peer_->inbox_.take_control(controls_.front());
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
  // A wire passes these through decode_frame() too, which is the only check that keeps a chunk inside its message.
  absl::Status status = decode_frame(encode_frame(chunk)).status();
  if (status.ok()) {
    const absl::StatusOr<bool> taken = inbox_.take_chunk(chunk, payload);
    if (taken.ok() && *taken) bytes_moved_ += kFrameHeaderBytes + chunk.payload;
    if (taken.ok()) return *taken;
    status = taken.status();
  }
  cut(status);
  return false;
}

void MemoryChunkLink::fail(absl::string_view reason, FailureScope scope) {
  if (dead_.ok()) {
    while (deliver_control()) continue;
    dead_ = absl::FailedPreconditionError("the circuit is closed");
    peer_->cut(received_failure(scope, reason));
  }
  fence();
}

void MemoryChunkLink::fence() {
  inbox_.close();
  sending_.reset();
  sent_.reset();
  controls_.clear();
  if (!dead_.ok()) return;
  dead_ = absl::FailedPreconditionError("the circuit is closed");
  peer_->cut(absl::CancelledError(kPeerClosed));
}

void MemoryChunkLink::cut(const absl::Status& reason) {
  if (!dead_.ok()) return;
  dead_ = reason;
  peer_->cut(reason);
}

}  // namespace cableway::sim
