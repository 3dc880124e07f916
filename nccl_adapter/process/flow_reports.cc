#include "nccl_adapter/process/flow_reports.h"

#include <utility>

#include "core/printable.h"

namespace cableway::nccl {
void FlowReports::opened(const FlowComm* comm, FlowOpened report) {
  Open& flow = open_[comm];
  flow = Open{std::move(report), std::chrono::steady_clock::now(), {}};
  send(flow);
}

template <typename Report>
void FlowReports::send_about(const FlowComm* comm, Report report) {
  const auto flow = open_.find(comm);
  if (flow == open_.end() || session_ == nullptr) return;
  report.number = flow->second.report.number;
  session_->report(report);
}

void FlowReports::rerouted(const FlowComm* comm, FlowRerouted report) {
  send_about(comm, std::move(report));
}

void FlowReports::retired(const FlowComm* comm, CircuitRetired report) {
  if (session_ == nullptr || session_->is_behind()) return;
  send_about(comm, std::move(report));
}

void FlowReports::waits(const FlowComm* comm, FlowWaits report) {
  send_about(comm, std::move(report));
}

void FlowReports::counted(const FlowComm* comm, FlowCounts counts) {
  const auto flow = open_.find(comm);
  if (flow == open_.end() || session_ == nullptr || session_->is_behind()) return;
  FlowCounts unaged = counts;
  for (CircuitCounts& circuit : unaged.circuits) circuit.open_ms = 0;
  if (unaged == flow->second.sent_counts) return;
  flow->second.sent_counts = std::move(unaged);
  send_about(comm, std::move(counts));
}

void FlowReports::ended(const FlowComm* comm, const std::string& failure) {
  const auto flow = open_.find(comm);
  if (flow == open_.end()) return;
  if (session_ != nullptr) session_->report(FlowEnded{flow->second.report.number, printable(failure, kMaxFlowFailure)});
  open_.erase(flow);
}

void FlowReports::corrupted(const FlowComm* comm, std::uint64_t circuits, const std::string& reason) {
  const auto flow = open_.find(comm);
  if (flow == open_.end() || session_ == nullptr) return;
  for (; circuits > 0; --circuits) {
    session_->report(ChunkCorrupted{flow->second.report.number, printable(reason, kMaxFlowFailure)});
  }
}

void FlowReports::use_session(const std::shared_ptr<host::SessionClient>& session) {
  session_ = session;
  for (auto& [comm, flow] : open_) send(flow);
}

void FlowReports::send(Open& flow) {
  if (session_ == nullptr) return;
  const auto open_for = std::chrono::steady_clock::now() - flow.since;
  flow.report.number = ++last_number_;
  flow.report.open_ms =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(open_for).count());
  flow.sent_counts = {};
  session_->report(flow.report);
}

}  // namespace cableway::nccl
