// The flows of this process, for its control thread: manages the set-up of their circuits, and assigns arriving
// set-ups to flows.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_FLOWS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_FLOWS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_transport.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/linux/os/unique_fd.h"
#include "core/ports/port_lost.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/comm/recv_comm.h"
#include "nccl_adapter/comm/send_comm.h"
#include "nccl_adapter/process/ended_flows.h"
#include "nccl_adapter/process/first_failure.h"
#include "nccl_adapter/process/flow_reports.h"

namespace cableway::nccl {

class ProcessFlows {
 public:
  struct Limits {
    std::chrono::milliseconds open;       // as SourceCircuits::Limits
    std::chrono::milliseconds path_wait;  // as there; a flow waits for the shorter time of its two ends
    std::uint32_t chunk_bytes = 0;
    CircuitShare shares = CircuitShare::kNone;  // as there
  };
  // Drains and closes connections.
  using CloseConnections = std::function<void(std::vector<host::UniqueFd>)>;

  // `means` and `reports` must outlive this.
  ProcessFlows(const FlowMeans& means, const Limits& limits, FlowReports& reports, Log log, CloseConnections close);
  ~ProcessFlows();
  ProcessFlows(const ProcessFlows&) = delete;
  ProcessFlows& operator=(const ProcessFlows&) = delete;

  // Begins to set up the first circuit of a flow that begins here.
  void open(const std::shared_ptr<SendComm>& comm, const FlowIdentity& identity);
  // A flow that ends here has its first circuit: `setup` is its set-up, and `transport` that of its end here.
  void arrived(const std::shared_ptr<RecvComm>& comm, const FlowIdentity& identity, const CircuitSetup& setup,
               const HopTransport& transport);
  // A further circuit of a flow that ends here has joined it.
  void joined(FlowComm* comm, const CircuitSetup& setup, const HopTransport& transport);
  // The flow that ends here to which a set-up with this nonce belongs.
  struct Destination {
    std::shared_ptr<RecvComm> comm;  // null: there is no such flow, or it has failed
    Cookie cookie{};
  };
  Destination find_destination(const FlowNonce& nonce) const;
  // Why the flow of this set-up, which would end here, has ended. nullopt: as far as is known, it has not.
  std::optional<std::string> why_ended(const CircuitSetup& setup) const;
  // A destination asks whether the flow, which begins here, is still open. If it is, the flow gets another circuit
  // where it has none.
  struct Answer {
    bool open = false;
    std::optional<std::string> why_ended;  // nullopt: it is open, or not known
  };
  Answer asked(const CircuitSetup& inquiry);
  // NCCL has the comm; its node lists the flow from now on.
  void in_use(FlowComm* comm);
  // FlowComm::NeedsControl, forwarded to this thread.
  void look_at(FlowComm* comm);
  // NCCL has closed the comm. `failure` as in FlowReports::ended(). A flow that ends here is remembered for a while,
  // for a source that has lost its last acknowledgement. Of other flows only the reason is remembered (EndedFlows).
  void closed(FlowComm* comm, const std::string& failure);

  // check() is to be called once a second, poll_idle() a few times a second. Both report changes to the node.
  void check();
  void poll_idle();
  void lose_port(const PortLost& lost);
  // The best paths of flows may have changed.
  void paths_changed();

 private:
  class Flow;
  class Outgoing;
  class Incoming;
  using ByComm = std::map<FlowComm*, std::unique_ptr<Flow>>;

  void attend_idle();
  void attend_later(Duration pause);
  void report_failure(FlowComm* comm);
  void report_activity(FlowComm* comm, Flow& flow, bool with_counts);
  void forget(FlowComm* comm);
  Flow* find(const FlowNonce& nonce) const;  // nullptr: the flow is unknown
  // Why the flow has ended, for its other end.
  std::string reason_of_end(const Flow& flow) const;

  struct Closed {
    FlowComm* comm = nullptr;
    Instant since;
  };

  const FlowMeans& means_;
  const Limits limits_;
  FlowReports& reports_;
  const Log log_;
  const CloseConnections close_connections_;
  ByComm flows_;
  std::deque<Closed> closed_;  // of flows_; the oldest first
  EndedFlows ended_;
  FirstFailure first_failure_;
  std::map<FlowNonce, Outgoing*> sources_;
  std::map<FlowNonce, Incoming*> destinations_;
  std::unique_ptr<Timer> attend_;  // runs while flows that end here are attended
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_FLOWS_H_
