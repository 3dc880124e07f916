#include "core/session/flow_ledger.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// Each session of an unknown process counts as a process of its own.
std::int64_t key_of(const SessionPeer& peer) {
  return peer.process != 0 ? peer.process : -static_cast<std::int64_t>(peer.session);
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
  session.listed.emplace(number, Listed{std::move(flow), now});
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

FlowsStatus FlowLedger::status(Instant now) const {
  FlowsStatus status{open_, opened_, failed_, {}};
  status.listed.reserve(listed_);
  for (const auto& [key, process] : processes_) {
    for (const auto& [id, session] : process.sessions) {
      for (const auto& [number, listed] : session.listed) {
        FlowStatus& flow = status.listed.emplace_back(FlowStatus{std::max<std::int64_t>(key, 0), listed.flow});
        const auto elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - listed.since).count();
        flow.flow.open_ms += static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed_ms, 0));
      }
    }
  }
  return status;
}

}  // namespace cableway
