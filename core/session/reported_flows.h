// Handles the reports of this host's processes about their flows: keeps the list of flows (flow_ledger.h), and raises
// an event for each flow that opens, takes another path, waits for one, finds damaged bytes, or fails. Circuits that
// end for the same reason within a second share an event, since one cable may end the circuits of many flows.
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_
#define CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/event/event.h"
#include "core/event/event_sink.h"
#include "core/flow/circuit_end.h"
#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"

namespace cableway {

class ReportedFlows {
 public:
  // Both must outlive this.
  ReportedFlows(Clock& clock, EventSink& events) : clock_(clock), events_(events) {}

  // Requires is_report(). InvalidArgument: the session broke the protocol.
  absl::Status take(const SessionPeer& peer, const SessionMessage& report);
  // The session is over.
  void left(const SessionPeer& peer) { ledger_.left(peer); }
  FlowsStatus status() const { return ledger_.status(clock_.now()); }
  FlowsStatus counts() const { return ledger_.counts(); }

  // Further reasons within a second share one event.
  static constexpr std::size_t kMaxReasons = 32;

 private:
  using Flow = absl::StatusOr<std::optional<FlowOpened>>;

  absl::Status take_opened(const SessionPeer& peer, const FlowOpened& opened);
  absl::Status take_rerouted(const SessionPeer& peer, const FlowRerouted& rerouted);
  absl::Status take_waits(const SessionPeer& peer, const FlowWaits& waits);
  absl::Status take_corrupted(const SessionPeer& peer, const ChunkCorrupted& corrupted);
  absl::Status take_ended(const SessionPeer& peer, const FlowEnded& ended);
  absl::Status take_retired(const SessionPeer& peer, const CircuitRetired& retired);
  void report_retired();

  // Circuits that have ended for the same reason.
  struct Retired {
    SessionPeer peer;  // of the first one, as are flow and path
    std::optional<FlowOpened> flow;
    std::string path;
    std::string reason;
    std::uint64_t circuits = 0;
    std::uint64_t bytes_again = 0;
  };
  struct RetiredKey {
    CircuitEndKind kind = CircuitEndKind::kFailed;
    bool hard = false;
    std::string reason;
    friend auto operator<=>(const RetiredKey&, const RetiredKey&) = default;
  };
  void report(const RetiredKey& key, const Retired& retired);

  Clock& clock_;
  EventSink& events_;
  FlowLedger ledger_;
  std::map<RetiredKey, Retired> retired_;  // not reported yet
  std::unique_ptr<Timer> report_retired_;  // runs while there are some
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_REPORTED_FLOWS_H_
