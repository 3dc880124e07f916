#include "core/session/reported_flows.h"

#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/circuit/circuit_events.h"
#include "core/event/event_code.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

// `flow` is empty if the node did not list the flow.
EventFields flow_fields(const SessionPeer& peer, const std::optional<FlowOpened>& flow) {
  EventFields fields{{"process", absl::StrCat(peer.process)}};
  if (!flow.has_value()) return fields;
  fields.push_back({"flow", flow_text(flow->flow)});
  fields.push_back({"neighbour", flow->node});
  fields.push_back({"path", flow->path});
  if (!flow->port.empty()) fields.push_back({"port", flow->port});
  return fields;
}

// Quotes a process's words, which may be those of a peer, so that they do not pass for the node's own.
std::string its_words(const std::string& text) {
  return routing::in_quotes(text, text.size());
}

// "process 17: the flow to node n2"
std::string flow_of(const SessionPeer& peer, const std::optional<FlowOpened>& flow) {
  const std::string which = flow.has_value()
                                ? absl::StrCat("the flow ", flow->sends ? "to" : "from", " node ", flow->node)
                                : std::string("a flow that is not listed");
  return absl::StrCat("process ", peer.process, ": ", which);
}

constexpr std::chrono::seconds kReportRetired{1};
constexpr char kOtherReasons[] = "other reasons";

// Whether a circuit was lost rather than left. A source knows which circuits it has left; a destination sees only
// that a circuit is closed.
bool is_hard(CircuitEndKind kind, bool sends) {
  if (kind == CircuitEndKind::kClosed) return sends;
  return kind != CircuitEndKind::kMoved;
}

// "14.2 ms"
std::string pause_text(std::uint64_t microseconds) {
  constexpr double kPerMillisecond = 1000;
  return absl::StrFormat("%.1f ms", static_cast<double>(microseconds) / kPerMillisecond);
}

}  // namespace

absl::Status ReportedFlows::take(const SessionPeer& peer, const SessionMessage& report) {
  if (const auto* opened = std::get_if<FlowOpened>(&report)) return take_opened(peer, *opened);
  if (const auto* counts = std::get_if<FlowCounts>(&report)) return ledger_.counted(peer, *counts, clock_.now());
  if (const auto* rerouted = std::get_if<FlowRerouted>(&report)) return take_rerouted(peer, *rerouted);
  if (const auto* waits = std::get_if<FlowWaits>(&report)) return take_waits(peer, *waits);
  if (const auto* corrupted = std::get_if<ChunkCorrupted>(&report)) return take_corrupted(peer, *corrupted);
  if (const auto* retired = std::get_if<CircuitRetired>(&report)) return take_retired(peer, *retired);
  return take_ended(peer, std::get<FlowEnded>(report));
}

absl::Status ReportedFlows::take_opened(const SessionPeer& peer, const FlowOpened& opened) {
  if (absl::Status status = ledger_.opened(peer, opened, clock_.now()); !status.ok()) return status;
  events_.raise(EventCode::kFlowOpened,
                absl::StrCat("process ", peer.process, ": a flow ", opened.sends ? "to" : "from", " node ", opened.node,
                             " over ", opened.path),
                flow_fields(peer, opened));
  return absl::OkStatus();
}

absl::Status ReportedFlows::take_rerouted(const SessionPeer& peer, const FlowRerouted& rerouted) {
  const Flow flow = ledger_.find(peer, rerouted.number);
  if (!flow.ok()) return flow.status();
  // Omits the old port, since the log keeps eight fields.
  std::optional<FlowOpened> shown = *flow;
  if (shown.has_value()) shown->port.clear();
  EventFields fields = flow_fields(peer, shown);
  fields.push_back({"new_path", rerouted.path});
  if (rerouted.cause.empty()) {
    events_.raise(EventCode::kFlowReturned,
                  absl::StrCat(flow_of(peer, *flow), " has moved to ", rerouted.path, ", a better path"),
                  std::move(fields));
    return absl::OkStatus();
  }
  fields.push_back({"pause_ms", absl::StrFormat("%.3f", static_cast<double>(rerouted.pause_us) / 1000)});
  fields.push_back({"bytes_sent_again", absl::StrCat(rerouted.bytes_again)});
  fields.push_back({"reason", rerouted.cause});
  const std::string times = rerouted.times == 1 ? "" : absl::StrCat(" (", rerouted.times, " paths in turn)");
  events_.raise(EventCode::kFlowRerouted,
                absl::StrCat(flow_of(peer, *flow), " goes over ", rerouted.path, " now", times, ", after ",
                             pause_text(rerouted.pause_us), " in which nothing moved; ", rerouted.bytes_again,
                             " bytes were sent again: ", its_words(rerouted.cause)),
                std::move(fields));
  return absl::OkStatus();
}

absl::Status ReportedFlows::take_waits(const SessionPeer& peer, const FlowWaits& waits) {
  const Flow flow = ledger_.waits(peer, waits);
  if (!flow.ok()) return flow.status();
  EventFields fields = flow_fields(peer, *flow);
  fields.push_back({"reason", waits.cause});
  events_.raise(EventCode::kFlowWaiting,
                absl::StrCat(flow_of(peer, *flow), " has had no path for a second: ", its_words(waits.cause)),
                std::move(fields));
  return absl::OkStatus();
}

absl::Status ReportedFlows::take_corrupted(const SessionPeer& peer, const ChunkCorrupted& corrupted) {
  const Flow flow = ledger_.find(peer, corrupted.number);
  if (!flow.ok()) return flow.status();
  EventFields fields = flow_fields(peer, *flow);
  fields.push_back({"reason", corrupted.reason});
  events_.raise(EventCode::kChunkCorrupted, absl::StrCat("process ", peer.process, ": ", its_words(corrupted.reason)),
                std::move(fields));
  return absl::OkStatus();
}

absl::Status ReportedFlows::take_retired(const SessionPeer& peer, const CircuitRetired& retired) {
  const Flow flow = ledger_.retired(peer, retired);
  if (!flow.ok()) return flow.status();
  const bool sends = flow->has_value() && (*flow)->sends;
  RetiredKey key{retired.kind, is_hard(retired.kind, sends), retired.reason};
  // Reasons of this kind differ only in how long the circuit was stuck.
  if (retired.kind == CircuitEndKind::kStuck) key.reason.clear();
  if (!retired_.contains(key) && retired_.size() >= kMaxReasons) key = {CircuitEndKind::kFailed, true, kOtherReasons};
  Retired& entry = retired_[key];
  if (entry.circuits == 0) {
    entry.peer = peer;
    entry.flow = *flow;
    entry.path = retired.path;
    entry.reason = key.reason == kOtherReasons ? kOtherReasons : retired.reason;
  }
  ++entry.circuits;
  entry.bytes_again += retired.bytes_again;
  if (report_retired_ == nullptr) report_retired_ = clock_.call_after(kReportRetired, [this] { report_retired(); });
  return absl::OkStatus();
}

void ReportedFlows::report_retired() {
  report_retired_.reset();
  for (const auto& [key, retired] : std::exchange(retired_, {})) report(key, retired);
}

void ReportedFlows::report(const RetiredKey& key, const Retired& retired) {
  std::optional<FlowOpened> shown = retired.flow;
  if (shown.has_value()) {
    shown->path = retired.path;
    shown->port.clear();  // the log keeps eight fields
  }
  EventFields fields = flow_fields(retired.peer, shown);
  fields.push_back({"kind", std::string(name_of(key.kind))});
  fields.push_back({"circuits", absl::StrCat(retired.circuits)});
  fields.push_back({"bytes_sent_again", absl::StrCat(retired.bytes_again)});
  fields.push_back({"reason", retired.reason});
  const std::uint64_t more = retired.circuits - 1;
  const std::string others =
      more == 0 ? "" : absl::StrCat(", and ", more, more == 1 ? " other circuit" : " other circuits");
  const std::string again =
      retired.bytes_again == 0 ? "" : absl::StrCat("; ", retired.bytes_again, " bytes were sent again");
  events_.raise(
      key.hard ? EventCode::kCircuitRetired : EventCode::kCircuitLeft,
      absl::StrCat(flow_of(retired.peer, retired.flow), key.hard ? " has lost" : " has left", " its circuit ",
                   retired.path, others, " (", name_of(key.kind), ")", again, ": ", its_words(retired.reason)),
      std::move(fields));
}

absl::Status ReportedFlows::take_ended(const SessionPeer& peer, const FlowEnded& ended) {
  const Flow flow = ledger_.ended(peer, ended);
  if (!flow.ok()) return flow.status();
  if (ended.failure.empty()) return absl::OkStatus();
  EventFields fields = flow_fields(peer, *flow);
  fields.push_back({"reason", ended.failure});
  events_.raise(EventCode::kFlowFailed, absl::StrCat("process ", peer.process, ": ", its_words(ended.failure)),
                std::move(fields));
  return absl::OkStatus();
}

}  // namespace cableway
