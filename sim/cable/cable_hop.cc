#include "sim/cable/cable_hop.h"

#include <utility>

namespace cableway::sim {

void CableLink::send(const Frame& chunk, Slot& slot) {
  out_.send(chunk, static_cast<RegisteredSlot&>(slot).data(), &slot);
}

absl::Status CableLink::progress(Sink& sink) {
  if (!dead_.ok()) return dead_;
  if (absl::Status status = in_.take_arrivals(); !status.ok()) return status;
  if (absl::Status status = in_.inbox().report(sink); !status.ok()) return status;
  if (absl::Status status = flush(sink); !status.ok()) return status;
  return in_.ended();
}

absl::Status CableLink::flush(Sink& sink) {
  if (!dead_.ok()) return dead_;
  if (out_.send_failed()) return absl::UnavailableError("a send failed");
  if (const std::optional<Slot*> slot = out_.take_sent(); slot.has_value()) sink.on_sent(*slot);
  return absl::OkStatus();
}

void CableLink::fail(absl::string_view reason, FailureScope scope) {
  end(received_failure(scope, reason));
}

void CableLink::fence() {
  end(absl::CancelledError(kPeerClosed));
}

void CableLink::end(absl::Status peer_status) {
  if (!dead_.ok()) return;
  dead_ = absl::FailedPreconditionError("the circuit is closed");
  in_.inbox().close();
  out_.stop_sending();
  out_.send_end(std::move(peer_status));
}

void CableLink::cut(const absl::Status& reason) {
  if (dead_.ok()) dead_ = reason;
  in_.inbox().close();
  out_.stop_sending();
}

void CableHop::set_users(LinkUser& source, LinkUser& destination) {
  forward_.set_users(source, destination);
  back_.set_users(destination, source);
}

void CableHop::cut(const absl::Status& reason) {
  silence();
  source_.cut(reason);
  destination_.cut(reason);
}

void CableHop::wake_ends() {
  forward_.wake_users();
}

void CableHop::silence() {
  forward_.silence();
  back_.silence();
}

}  // namespace cableway::sim
