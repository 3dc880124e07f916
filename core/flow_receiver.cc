#include "core/flow_receiver.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cableway {

absl::StatusOr<std::uint64_t> FlowReceiver::post(const Landing& landing) {
  at(next_) = Message{};
  at(next_).capacity = landing.capacity;
  if (absl::Status status = link_.post_landing(next_, landing); !status.ok()) return status;
  // The landing is posted before it is announced: the answer may come at once.
  const Frame announcement{FrameKind::kAnnounce, 0, next_, 0, landing.capacity};
  if (absl::Status status = link_.send_control(announcement); !status.ok()) return status;
  const std::uint64_t sequence = next_++;
  // At once: the source may be waiting for nothing else.
  if (absl::Status status = link_.flush(*this); !status.ok()) return status;
  return sequence;
}

absl::Status FlowReceiver::progress() {
  return link_.progress(*this);
}

absl::Status FlowReceiver::on_landed(const Frame& chunk) {
  const bool posted = chunk.message >= oldest_ && chunk.message < next_;
  Message& message = at(chunk.message);
  // A circuit keeps its chunks in order, so the next chunk begins where the last one ended.
  if (!posted || message.whole || chunk.size > message.capacity || chunk.offset != message.landed ||
      (message.landed != 0 && chunk.size != message.size)) {
    return absl::InvalidArgumentError(absl::StrCat("chunk at ", chunk.offset, " of message ", chunk.message, " (",
                                                   chunk.size, " bytes) is not the one expected"));
  }
  message.size = chunk.size;
  message.landed += chunk.payload;
  if (message.landed < message.size) return absl::OkStatus();
  message.whole = true;
  while (oldest_ < next_ && at(oldest_).whole) ++oldest_;
  return link_.send_control(Frame{FrameKind::kAck, 0, chunk.message, 0, chunk.size});
}

absl::Status FlowReceiver::on_chunk(const Frame&, Slot&) {
  return absl::InternalError("a receiver posts no slots");
}

absl::Status FlowReceiver::on_control(const Frame& control) {
  return absl::InvalidArgumentError(absl::StrCat("peer sent a frame ", to_text(control.kind), " to a receiver"));
}

}  // namespace cableway
