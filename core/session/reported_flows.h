// What this host's processes report of their flows: the list of them (flow_ledger.h), and an event for each that opens,
// takes another path, waits for one, finds damaged bytes, or fails.
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_
#define CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/event/event.h"
#include "core/event/event_sink.h"
#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"

namespace cableway {

class ReportedFlows {
 public:
  // Both must outlive this.
  ReportedFlows(const Clock& clock, EventSink& events) : clock_(clock), events_(events) {}

  // Requires is_report(). InvalidArgument: the session broke the protocol.
  absl::Status take(const SessionPeer& peer, const SessionMessage& report);
  // The session is over.
  void left(const SessionPeer& peer) { ledger_.left(peer); }
  FlowsStatus status() const { return ledger_.status(clock_.now()); }

 private:
  using Flow = absl::StatusOr<std::optional<FlowOpened>>;

  absl::Status take_opened(const SessionPeer& peer, const FlowOpened& opened);
  absl::Status take_rerouted(const SessionPeer& peer, const FlowRerouted& rerouted);
  absl::Status take_waits(const SessionPeer& peer, const FlowWaits& waits);
  absl::Status take_corrupted(const SessionPeer& peer, const ChunkCorrupted& corrupted);
  absl::Status take_ended(const SessionPeer& peer, const FlowEnded& ended);

  const Clock& clock_;
  EventSink& events_;
  FlowLedger ledger_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_
