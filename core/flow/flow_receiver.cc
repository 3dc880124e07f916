#include "core/flow/flow_receiver.h"

#include "absl/strings/str_cat.h"

namespace cableway {

void FlowReceiver::Circuit::open(FlowReceiver& flow, ChunkLink& link) {
  flow_ = &flow;
  link_ = &link;
}

absl::Status FlowReceiver::Circuit::on_landed(const Frame& chunk) {
  return flow_->take_landed(chunk);
}

absl::Status FlowReceiver::Circuit::on_chunk(const Frame&, Slot&) {
  return absl::InternalError("a receiver posts no slots");
}

absl::Status FlowReceiver::Circuit::on_control(const Frame& control) {
  return absl::InvalidArgumentError(absl::StrCat("peer sent a frame ", to_text(control.kind), " to a receiver"));
}

FlowReceiver::FlowReceiver(ChunkLink& last_hop) {
  circuits_[primary_].open(*this, last_hop);
}

absl::StatusOr<std::uint64_t> FlowReceiver::post(const FlowLanding& landing) {
  at(next_) = Message{};
  at(next_).capacity = landing.capacity;
  for (std::size_t i = 0; i < circuit_count_; ++i) {
    if (absl::Status status = circuits_[i].link().post_landing(next_, landing.on(i)); !status.ok()) return status;
  }
  // Posts the landing before it announces it: data may arrive at once.
  Circuit& primary = circuits_[primary_];
  const Frame announcement{FrameKind::kAnnounce, 0, next_, 0, landing.capacity};
  if (absl::Status status = primary.link().send_control(announcement); !status.ok()) return status;
  const std::uint64_t sequence = next_++;
  // Flushes at once: the source may be waiting for the announcement.
  if (absl::Status status = primary.link().flush(primary); !status.ok()) return status;
  return sequence;
}

absl::Status FlowReceiver::progress() {
  for (std::size_t i = 0; i < circuit_count_; ++i) {
    if (absl::Status status = circuits_[i].link().progress(circuits_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FlowReceiver::take_landed(const Frame& chunk) {
  const bool posted = chunk.message >= oldest_ && chunk.message < next_;
  Message& message = at(chunk.message);
  const bool fits = posted && !message.whole && chunk.size <= message.capacity &&
                    (!message.begun || chunk.size == message.size) &&
                    // A circuit keeps its chunks in order, so with a single one the next chunk begins where the last
                    // one ended.
                    (circuit_count_ > 1 || chunk.offset == message.landed.prefix());
  if (!fits || message.landed.add(chunk.offset, chunk.offset + chunk.payload, islands_) != LandedRanges::Added::kNew) {
    return absl::InvalidArgumentError(absl::StrCat("chunk at ", chunk.offset, " of message ", chunk.message, " (",
                                                   chunk.size, " bytes) is not the one expected"));
  }
  message.begun = true;
  message.size = chunk.size;
  if (message.landed.prefix() < message.size) return absl::OkStatus();
  message.whole = true;
  for (std::size_t i = 0; i < circuit_count_; ++i) circuits_[i].link().end_landing(chunk.message);
  return finish_whole();
}

// Messages complete, and are acknowledged, in order.
absl::Status FlowReceiver::finish_whole() {
  while (oldest_ < next_ && at(oldest_).whole) {
    const std::uint64_t done = oldest_++;
    const Frame acknowledgement{FrameKind::kAck, 0, done, 0, at(done).size};
    if (absl::Status status = circuits_[primary_].link().send_control(acknowledgement); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace cableway
