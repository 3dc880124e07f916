#include "core/flow/flow_sender.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway {

void FlowSender::Circuit::open(FlowSender& flow, ChunkLink& link, std::uint32_t chunk_bytes) {
  flow_ = &flow;
  link_ = &link;
  chunk_bytes_ = chunk_bytes;
}

void FlowSender::Circuit::send(const Frame& chunk, SendBuffer payload) {
  ++sent_;
  link_->send(chunk, payload);
}

absl::Status FlowSender::Circuit::on_control(const Frame& control) {
  return flow_->take_control(control);
}

absl::Status FlowSender::Circuit::on_landed(const Frame&) {
  return absl::InvalidArgumentError("peer sent data to a sender");
}

absl::Status FlowSender::Circuit::on_chunk(const Frame&, Slot&) {
  return absl::InvalidArgumentError("peer sent data to a sender");
}

FlowSender::FlowSender(ChunkLink& first_hop, std::uint32_t chunk_bytes) {
  circuits_[primary_].open(*this, first_hop, chunk_bytes);
}

absl::StatusOr<std::uint64_t> FlowSender::post(const FlowBuffer& buffer, std::uint64_t bytes) {
  Message& message = at(next_);
  message = Message{};
  message.buffer = buffer;
  message.bytes = bytes;
  const std::uint64_t sequence = next_++;
  if (absl::Status status = send_announced(); !status.ok()) return status;
  return sequence;
}

bool FlowSender::done(std::uint64_t message) const {
  if (message < oldest_) return true;
  return finished(at(message));
}

bool FlowSender::finished(const Message& message) const {
  if (!message.acknowledged) return false;
  for (std::size_t i = 0; i < circuit_count_; ++i) {
    if (circuits_[i].completed() < message.last_chunk[i]) return false;
  }
  return true;
}

absl::Status FlowSender::progress() {
  absl::Status status;
  for (std::size_t i = 0; i < circuit_count_ && status.ok(); ++i) status = circuits_[i].link().progress(circuits_[i]);
  if (status.ok()) status = send_announced();
  retire();  // also messages that a hop completed before it ended
  return status;
}

absl::Status FlowSender::send_announced() {
  Circuit& circuit = circuits_[primary_];
  while (sending_ < next_ && sending_ < announced_ && circuit.link().can_send()) {
    Message& message = at(sending_);
    const std::uint64_t capacity = capacities_[sending_ % kMaxLandings];
    if (message.bytes > capacity) {
      return absl::OutOfRangeError(absl::StrCat("message ", sending_, " of ", message.bytes,
                                                " bytes is larger than its receive of ", capacity, " bytes"));
    }
    const std::uint64_t offset = message.sent;
    const auto payload =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(message.bytes - offset, circuit.chunk_bytes()));
    message.sent += payload;
    message.begun = true;
    message.last_chunk[primary_] = circuit.sent() + 1;
    const std::uint64_t sequence = sending_;
    if (message.sent == message.bytes) ++sending_;
    circuit.send(Frame{FrameKind::kChunk, payload, sequence, offset, message.bytes},
                 message.buffer.at(offset, primary_));
    if (absl::Status status = circuit.link().flush(circuit); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void FlowSender::retire() {
  while (oldest_ < next_ && finished(at(oldest_))) ++oldest_;
}

absl::Status FlowSender::take_control(const Frame& control) {
  return control.kind == FrameKind::kAnnounce ? take_announcement(control) : take_acknowledgement(control);
}

absl::Status FlowSender::take_announcement(const Frame& control) {
  if (control.message != announced_ || announced_ - unacknowledged_ >= kMaxLandings) {
    return absl::InvalidArgumentError(absl::StrCat("peer announced receive ", control.message, ", expected ",
                                                   announced_, " with fewer than ", kMaxLandings, " unfinished"));
  }
  capacities_[announced_ % kMaxLandings] = control.size;
  ++announced_;
  return absl::OkStatus();
}

absl::Status FlowSender::take_acknowledgement(const Frame& control) {
  const bool in_flight = control.message >= oldest_ && control.message < next_;
  const Message& message = at(control.message);
  if (!in_flight || !message.begun || message.acknowledged || message.sent != message.bytes ||
      control.size != message.bytes) {
    return absl::InvalidArgumentError(absl::StrCat("peer acknowledged ", control.size, " bytes of message ",
                                                   control.message, ", which is not what was sent"));
  }
  at(control.message).acknowledged = true;
  // Before the next frame: the same read may hold an announcement that reuses this place. The receiver may reuse it as
  // soon as it has acknowledged, even if the link has not completed the send yet.
  while (unacknowledged_ < next_ && at(unacknowledged_).acknowledged) ++unacknowledged_;
  retire();
  return absl::OkStatus();
}

}  // namespace cableway
