#include "nccl_adapter/process/circuit_reports.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/circuit/hop_names.h"
#include "core/printable.h"
#include "routing/text/node_name.h"

namespace cableway::nccl {
namespace {

constexpr std::chrono::seconds kWaitsLong{1};
// The circuits of a flow that is over end within this time. An end is reported only after this time, if the flow
// continues.
constexpr std::chrono::milliseconds kMayBeOver{200};
constexpr std::chrono::seconds kCountsLate{5};  // after which an end is reported without the destination's count
constexpr std::size_t kMaxUnreported = 2 * kMaxFlowCircuits;

template <typename Unit>
std::uint64_t whole(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<Unit>(duration).count());
}

}  // namespace

void CircuitReports::joined(const CircuitSetup& setup, const HopTransport& transport, Instant now) {
  const HopEnd end = sends_ ? dialing_end(setup, setup.hop) : accepting_end(setup, setup.hop);
  Joined& circuit = circuits_[setup.circuit.slot];
  circuit.before = circuit.name;
  circuit.path_before = std::move(circuit.report.path);
  circuit.name = setup.circuit;
  circuit.since = now;
  circuit.report = CircuitCounts{};
  circuit.report.path = nodes_on_path(setup);
  circuit.report.port = printable(end.port, kMaxPortName);
  circuit.report.share = setup.share;
  circuit.report.transport = {printable(transport.over, kMaxTransportName),
                              printable(transport.reason, kMaxTransportReason)};
  if (opened_.has_value()) return;
  FlowOpened& report = opened_.emplace();
  report.flow = setup.flow;
  report.node = printable(sends_ ? setup.hops.back().to_node : setup.from_node, routing::kMaxNodeNameBytes);
  report.sends = sends_;
  report.path = circuit.report.path;
  report.port = circuit.report.port;
  report.transport = circuit.report.transport;
}

std::optional<FlowRerouted> CircuitReports::rerouted(const FlowActivity& activity) {
  if (!activity.reroute.has_value()) return std::nullopt;
  const Reroute& reroute = *activity.reroute;
  reroutes_ += reroute.times;
  pause_ += reroute.pause;
  FlowRerouted report;
  const Joined& circuit = circuits_[reroute.circuit.slot];
  if (circuit.name == reroute.circuit) report.path = circuit.report.path;
  report.cause = printable(reroute.cause, kMaxFlowFailure);
  report.times = reroute.times;
  report.pause_us = whole<std::chrono::microseconds>(reroute.pause);
  report.bytes_again = reroute.bytes_again;
  return report;
}

std::string CircuitReports::path_of(const CircuitName& circuit) const {
  const Joined& joined = circuits_[circuit.slot];
  if (joined.name == circuit) return joined.report.path;
  return joined.before == circuit ? joined.path_before : "";
}

void CircuitReports::ended(const CommCircuits::Ended& ended, Instant now) {
  for (const CircuitEnd& end : ended.ends) {
    ended_.push_back({end, path_of(end.circuit), now});
    if (ended_.size() <= kMaxUnreported) continue;
    count(ended_.front().end);
    ended_.pop_front();
  }
}

std::vector<CircuitRetired> CircuitReports::retired(const FlowActivity& activity, Instant now) {
  std::vector<CircuitRetired> reports;
  const auto is_alive = [](const CircuitName& circuit) { return circuit.generation > 0; };
  const bool goes_on = !activity.waits.empty() || std::any_of(activity.live.begin(), activity.live.end(), is_alive);
  if (!goes_on) return reports;
  for (Ended& ended : ended_) {
    const CountedEnd& counted = activity.counted[ended.end.circuit.slot];
    if (!(counted.circuit == ended.end.circuit)) continue;
    ended.end.counted = counted.counted;
    ended.end.bytes_again = counted.bytes_again;
  }
  std::erase_if(ended_, [&](const Ended& ended) {
    const bool is_due = now - ended.at >= (ended.end.counted ? Instant::duration(kMayBeOver) : kCountsLate);
    if (!is_due) return false;
    count(ended.end);
    reports.push_back(
        {0, ended.path, ended.end.kind, printable(ended.end.reason, kMaxFlowFailure), ended.end.bytes_again});
    return true;
  });
  return reports;
}

std::optional<FlowWaits> CircuitReports::waits(const FlowActivity& activity, Instant now) {
  if (activity.waits.empty()) {
    waits_since_.reset();
    waits_reported_ = false;
    return std::nullopt;
  }
  if (!waits_since_.has_value()) waits_since_ = now;
  if (waits_reported_ || now - *waits_since_ < kWaitsLong) return std::nullopt;
  waits_reported_ = true;
  return FlowWaits{0, printable(activity.waits, kMaxFlowFailure)};
}

FlowCounts CircuitReports::counts(const FlowActivity& activity, Instant now) const {
  FlowCounts report;
  report.bytes = activity.traffic.bytes();
  report.bytes_again = activity.traffic.bytes_again();
  report.reroutes = reroutes_;
  report.retired = retired_;
  report.pause_us = whole<std::chrono::microseconds>(pause_);
  for (const Joined& circuit : circuits_) {
    const bool is_live = circuit.name.generation > 0 && activity.live[circuit.name.slot] == circuit.name;
    if (!is_live) continue;
    CircuitCounts& counts = report.circuits.emplace_back(circuit.report);
    counts.bytes = activity.traffic.bytes_over(circuit.name.slot);
    counts.open_ms = whole<std::chrono::milliseconds>(now - circuit.since);
    counts.stalled_us = whole<std::chrono::microseconds>(activity.traffic.stalled(circuit.name.slot));
    counts.kept_away_us = whole<std::chrono::microseconds>(activity.traffic.kept_away(circuit.name.slot));
    counts.carries = activity.carrier == circuit.name;
  }
  return report;
}

}  // namespace cableway::nccl
