// The flows of this process, for its control thread: who sets up their circuits, and which set-up belongs to which.
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
#include "nccl_adapter/process/flow_reports.h"

namespace cableway::nccl {

class ProcessFlows {
 public:
  struct Limits {
    std::chrono::milliseconds open;       // SourceCircuits::Limits
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

  // Starts to set up the first circuit of a flow that begins here.
  void open(const std::shared_ptr<SendComm>& comm, const FlowIdentity& identity);
  // A flow that ends here has its first circuit, with this set-up and with `transport` at its end here.
  void arrived(const std::shared_ptr<RecvComm>& comm, const FlowIdentity& identity, const CircuitSetup& setup,
               const HopTransport& transport);
  // A further circuit of a flow that ends here has joined it.
  void joined(FlowComm* comm, const CircuitSetup& setup, const HopTransport& transport);
  // The flow that ends here and that a set-up of this nonce belongs to.
  struct Destination {
    std::shared_ptr<RecvComm> comm;  // null: there is none, or it has failed
    Cookie cookie{};
  };
  Destination find_destination(const FlowNonce& nonce) const;
  // Why the flow of this set-up, which would end here, has ended; nullopt: it has not, as far as is known.
  std::optional<std::string> why_ended(const CircuitSetup& setup) const;
  // A destination asks whether the flow, which begins here, goes on. If it does, it gets another circuit where it has
  // none.
  struct Answer {
    bool open = false;
    std::optional<std::string> why_ended;  // nullopt: it is open, or not known
  };
  Answer asked(const CircuitSetup& inquiry);
  // NCCL has the comm: its node lists the flow from now on.
  void in_use(FlowComm* comm);
  // FlowComm::NeedsControl, passed on to this thread.
  void look_at(FlowComm* comm);
  // NCCL has closed the comm. `failure` as in FlowReports::ended(). A flow that ends here is remembered for a while,
  // for a source that has lost its last acknowledgement; of other flows only the reason is (EndedFlows).
  void closed(FlowComm* comm, const std::string& failure);

  // To be called once a second, and a few times a second. Both report what has changed to the node.
  void check();
  void poll_idle();
  void lose_port(const PortLost& lost);
  // The best paths of flows may be others now.
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
  Flow* find(const FlowNonce& nonce) const;  // nullptr: it is not known
  static std::string reason_of_end(const Flow& flow);

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
  std::map<FlowNonce, Outgoing*> sources_;
  std::map<FlowNonce, Incoming*> destinations_;
  std::unique_ptr<Timer> attend_;  // runs while flows that end here are attended
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_FLOWS_H_
