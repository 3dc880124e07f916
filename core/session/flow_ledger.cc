#include "core/session/flow_ledger.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// Each session of an unknown process counts as a separate process.
std::int64_t key_of(const SessionPeer& peer) {
  return peer.process != 0 ? peer.process : -static_cast<std::int64_t>(peer.session);
}

// A rate is outdated after this time: processes report changes about once a second.
constexpr std::chrono::milliseconds kStale{2500};

std::uint64_t per_second(std::uint64_t before, std::uint64_t now, Duration between) {
  const double seconds = std::chrono::duration<double>(between).count();
  return now <= before || seconds <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(now - before) / seconds);
}

absl::Status not_open(std::uint64_t number) {
  return absl::InvalidArgumentError(absl::StrCat("a report of flow number ", number, ", which is not open"));
}

}  // namespace

absl::Status FlowLedger::opened(const SessionPeer& peer, FlowOpened flow, Instant now) {
  Process& process = processes_[key_of(peer)];
  Session& session = process.sessions[peer.session];
  if (flow.number <= session.last_number) {
    const std::uint64_t last = session.last_number;
    forget_if_empty(peer);
    return absl::InvalidArgumentError(
        absl::StrCat("flow number ", flow.number, " was opened after number ", last, "; numbers grow"));
  }
  session.last_number = flow.number;
  ++open_;
  ++opened_;
  if (listed_ == max_listed_ && process.listed >= max_listed_ / processes_.size()) {
    ++session.unlisted;
    return absl::OkStatus();
  }
  if (listed_ == max_listed_) make_room();
  const std::uint64_t number = flow.number;
  Listed& listed = session.listed[number];
  listed.flow = std::move(flow);
  listed.since = now;
  ++process.listed;
  ++listed_;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<FlowOpened>> FlowLedger::ended(const SessionPeer& peer, const FlowEnded& end) {
  const auto unknown = [&] {
    return absl::InvalidArgumentError(absl::StrCat("flow number ", end.number, " ended, which is not open"));
  };
  const auto process = processes_.find(key_of(peer));
  if (process == processes_.end()) return unknown();
  const auto session = process->second.sessions.find(peer.session);
  if (session == process->second.sessions.end()) return unknown();
  std::optional<FlowOpened> flow;
  if (const auto listed = session->second.listed.find(end.number); listed != session->second.listed.end()) {
    flow = std::move(listed->second.flow);
    session->second.listed.erase(listed);
    --process->second.listed;
    --listed_;
  } else {
    if (session->second.unlisted == 0 || end.number > session->second.last_number) return unknown();
    --session->second.unlisted;
  }
  --open_;
  if (!end.failure.empty()) ++failed_;
  forget_if_empty(peer);
  return flow;
}

absl::StatusOr<FlowLedger::Listed*> FlowLedger::listing(const SessionPeer& peer, std::uint64_t number) {
  const auto process = processes_.find(key_of(peer));
  if (process == processes_.end()) return not_open(number);
  const auto session = process->second.sessions.find(peer.session);
  if (session == process->second.sessions.end()) return not_open(number);
  const auto listed = session->second.listed.find(number);
  if (listed != session->second.listed.end()) return &listed->second;
  if (session->second.unlisted == 0 || number > session->second.last_number) return not_open(number);
  return nullptr;
}

absl::StatusOr<std::optional<FlowOpened>> FlowLedger::find(const SessionPeer& peer, std::uint64_t number) {
  const absl::StatusOr<Listed*> listed = listing(peer, number);
  if (!listed.ok()) return listed.status();
  return *listed == nullptr ? std::nullopt : std::optional((*listed)->flow);
}

absl::StatusOr<std::optional<FlowOpened>> FlowLedger::waits(const SessionPeer& peer, const FlowWaits& report) {
  const absl::StatusOr<Listed*> listed = listing(peer, report.number);
  if (!listed.ok()) return listed.status();
  if (*listed == nullptr) return std::nullopt;
  (*listed)->waits = report.cause;
  return (*listed)->flow;
}

absl::StatusOr<std::optional<FlowOpened>> FlowLedger::retired(const SessionPeer& peer, const CircuitRetired& report) {
  absl::StatusOr<std::optional<FlowOpened>> flow = find(peer, report.number);
  if (!flow.ok()) return flow;
  ++retired_[static_cast<std::size_t>(report.kind)];
  bytes_again_ += report.bytes_again;
  return flow;
}

absl::Status FlowLedger::counted(const SessionPeer& peer, const FlowCounts& counts, Instant now) {
  const absl::StatusOr<Listed*> listed = listing(peer, counts.number);
  if (listed.ok() && *listed != nullptr) count(**listed, counts, now);
  return listed.status();
}

void FlowLedger::count(Listed& flow, const FlowCounts& counts, Instant now) {
  flow.circuit_bytes_per_s.assign(counts.circuits.size(), std::nullopt);
  if (flow.counted_at.has_value()) {
    const Duration between = now - *flow.counted_at;
    flow.bytes_per_s = per_second(flow.counts.bytes, counts.bytes, between);
    for (std::size_t i = 0; i < counts.circuits.size(); ++i) {
      for (const CircuitCounts& before : flow.counts.circuits) {
        const CircuitCounts& circuit = counts.circuits[i];
        const bool is_same = before.path == circuit.path && before.port == circuit.port;
        if (is_same) flow.circuit_bytes_per_s[i] = per_second(before.bytes, circuit.bytes, between);
      }
    }
  }
  for (const CircuitCounts& circuit : counts.circuits) {
    if (!circuit.carries) continue;
    flow.flow.path = circuit.path;
    flow.flow.port = circuit.port;
    flow.flow.transport = circuit.transport;
  }
  if (!counts.circuits.empty()) flow.waits.clear();
  flow.counted_at = now;
  flow.counts = counts;
}

void FlowLedger::left(const SessionPeer& peer) {
  const auto process = processes_.find(key_of(peer));
  if (process == processes_.end()) return;
  const auto session = process->second.sessions.find(peer.session);
  if (session == process->second.sessions.end()) return;
  const std::size_t listed = session->second.listed.size();
  open_ -= listed + session->second.unlisted;
  listed_ -= listed;
  process->second.listed -= listed;
  process->second.sessions.erase(session);
  if (process->second.sessions.empty()) processes_.erase(process);
}

void FlowLedger::forget_if_empty(const SessionPeer& peer) {
  const auto process = processes_.find(key_of(peer));
  const auto session = process->second.sessions.find(peer.session);
  if (session->second.listed.empty() && session->second.unlisted == 0) process->second.sessions.erase(session);
  if (process->second.sessions.empty()) processes_.erase(process);
}

void FlowLedger::make_room() {
  const auto most = std::max_element(processes_.begin(), processes_.end(),
                                     [](const auto& a, const auto& b) { return a.second.listed < b.second.listed; });
  for (auto& [id, session] : most->second.sessions) {
    if (session.listed.empty()) continue;
    session.listed.erase(std::prev(session.listed.end()));
    ++session.unlisted;
    --most->second.listed;
    --listed_;
    return;
  }
}

FlowStatus FlowLedger::status_of(std::int64_t process, const Listed& listed, Instant now) {
  FlowStatus status{process, listed.flow, listed.counts, listed.bytes_per_s, listed.circuit_bytes_per_s, listed.waits};
  const auto milliseconds = [now](Instant since) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 0));
  };
  status.flow.open_ms += milliseconds(listed.since);
  if (!listed.counted_at.has_value()) return status;
  for (CircuitCounts& circuit : status.counts.circuits) circuit.open_ms += milliseconds(*listed.counted_at);
  if (now - *listed.counted_at < kStale) return status;
  // Unchanged counts are not reported, so an outdated rate is 0.
  if (status.bytes_per_s.has_value()) status.bytes_per_s = 0;
  for (std::optional<std::uint64_t>& rate : status.circuit_bytes_per_s) {
    if (rate.has_value()) rate = 0;
  }
  return status;
}

FlowsStatus FlowLedger::status(Instant now) const {
  FlowsStatus status = counts();
  status.listed.reserve(listed_);
  for (const auto& [key, process] : processes_) {
    for (const auto& [id, session] : process.sessions) {
      for (const auto& [number, listed] : session.listed) {
        status.listed.push_back(status_of(std::max<std::int64_t>(key, 0), listed, now));
      }
    }
  }
  return status;
}

}  // namespace cableway
