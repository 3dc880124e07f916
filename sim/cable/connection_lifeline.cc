#include "sim/cable/connection_lifeline.h"

namespace cableway::sim {

absl::StatusOr<std::optional<Frame>> ConnectionLifeline::look() {
  if (received_.empty() && end_.ok()) end_ = connection_.progress(*this);
  if (!received_.empty()) {
    const Frame next = received_.front();
    received_.pop_front();
    return next;
  }
  if (!end_.ok()) return end_;
  return std::nullopt;
}

void ConnectionLifeline::leave(std::span<const Frame> last, const std::optional<Failure>& failure) {
  if (connection_.dead()) return;
  if (killed_) return connection_.fence();
  for (const Frame& frame : last) connection_.send_control(frame).IgnoreError();  // `last` fits into the queue
  failure ? connection_.fail(failure->reason, failure->scope) : connection_.fence();
}

absl::Status ConnectionLifeline::on_landed(const Frame&) {
  return absl::InternalError("a lifeline has no landings");
}

absl::Status ConnectionLifeline::on_chunk(const Frame&, Slot&) {
  return absl::InternalError("a lifeline has no slots");
}

absl::Status ConnectionLifeline::on_control(const Frame& control) {
  if (control.kind != FrameKind::kAck) return absl::InvalidArgumentError("peer announced a receive on a lifeline");
  received_.push_back(control);
  return absl::OkStatus();
}

}  // namespace cableway::sim
