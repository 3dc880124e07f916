#include "nccl_adapter/process/flow_reports.h"

#include <utility>

#include "core/circuit/hop_names.h"
#include "core/printable.h"
#include "routing/text/node_name.h"

namespace cableway::nccl {
namespace {

std::string shown(const std::string& text, std::size_t most) {
  return printable(text).substr(0, most);
}

}  // namespace

FlowOpened report_of(const CircuitSetup& setup, const HopTransport& transport, bool sends) {
  const HopEnd end = sends ? dialing_end(setup, setup.hop) : accepting_end(setup, setup.hop);
  FlowOpened report;
  report.flow = setup.flow;
  report.node = shown(sends ? setup.hops.back().to_node : setup.from_node, routing::kMaxNodeNameBytes);
  report.sends = sends;
  report.path = nodes_on_path(setup);
  report.port = shown(end.port, kMaxPortName);
  report.transport = {shown(transport.over, kMaxTransportName), shown(transport.reason, kMaxTransportReason)};
  return report;
}

void FlowReports::opened(const FlowComm* comm, FlowOpened report) {
  Open& flow = open_[comm];
  flow = Open{std::move(report), std::chrono::steady_clock::now()};
  send(flow);
}

void FlowReports::ended(const FlowComm* comm, const std::string& failure) {
  const auto flow = open_.find(comm);
  if (flow == open_.end()) return;
  if (session_ != nullptr) session_->report(FlowEnded{flow->second.report.number, shown(failure, kMaxFlowFailure)});
  open_.erase(flow);
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
  session_->report(flow.report);
}

}  // namespace cableway::nccl
