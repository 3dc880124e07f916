// Cableway's state in one application process, shared by its communicators: its membership of the node, the acceptor
// for circuits that end here, the open flows with the circuits being set up for them, and the control thread that runs
// all three.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/crypto/setup_keys.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/linux/gate/shared_port_stamps.h"
#include "core/linux/hop/circuit_acceptor.h"
#include "core/linux/hop/circuit_dialer.h"
#include "core/linux/rdma/gpu_memory_support.h"
#include "core/ports/port_lost.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/comm/flow_comm.h"
#include "nccl_adapter/comm/listen_comm.h"
#include "nccl_adapter/process/control_thread.h"
#include "nccl_adapter/process/fork_guard.h"
#include "nccl_adapter/process/node_membership.h"
#include "nccl_adapter/process/process_flows.h"

namespace cableway::nccl {

class Process {
 public:
  // Joins this host's node, starting one if none is running. The status names the remedy for the operator.
  static absl::StatusOr<std::shared_ptr<Process>> start(const Settings& settings, const std::string& daemon, Log log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The node's description when this process joined it. Callable from any thread.
  const Welcome& node() const { return welcome_; }
  // The support of the ports at that time. Constant, because NCCL queries it repeatedly and relies on it. Callable
  // from any thread.
  const host::GpuMemorySupport& gpu_memory() const { return gpu_memory_; }
  const Log& log() const { return log_; }
  const Settings& settings() const { return settings_; }

  // Callable from any thread:
  // Unavailable: this node has no address that a circuit could arrive at.
  absl::StatusOr<ListenHandle> add_listener(const std::shared_ptr<ListenComm>& listener);
  void remove_listener(const ListenComm& listener);
  // Opens a flow to the listener of this handle. Its comm is opened() once the first circuit is. From then on the
  // flow is checked once a second, polled four times a second while idle, and given another circuit when one ends.
  std::shared_ptr<SendComm> open_flow(Context& context, const ListenHandle& handle);
  // NCCL has this comm; the node lists the flow from now on.
  void in_use(FlowComm* comm);
  // `failure` as in FlowReports::ended().
  void closed(FlowComm* comm, const std::string& failure);
  void close_connections(std::vector<host::UniqueFd> sockets);

 private:
  Process(const Settings& settings, Log log);

  void detect_gpu_memory();
  absl::Status listen();
  // On the control thread only:
  // Applies a Welcome: its addresses, its keys, and the cables that must not be used.
  void take(const Welcome& welcome);
  void share_port_stamps(const host::UniqueFd& file);
  void listen_on(const std::vector<std::string>& addresses);
  void on_setup(ArrivedSetup arrived);
  void answer_inquiry(ArrivedSetup inquiry);
  void join_flow(const ProcessFlows::Destination& flow, ArrivedSetup arrived);
  void begin_flow(ArrivedSetup arrived);
  absl::Status check_cable(const CircuitSetup& setup) const;
  absl::Status check_arrival(ListenComm& listener, const CircuitSetup& setup) const;
  // nullopt: the hop could not be opened. The peer has been informed, and the reason was logged.
  std::optional<host::HopConnection> accept(ArrivedSetup arrived);
  void refuse(ArrivedSetup arrived, const absl::Status& reason, FailureScope scope);
  FlowComm::Origin origin_of(Context& context, std::string flow);
  void lose_port(const PortLost& lost);
  void paths_changed();
  void run_checks();
  void note_rejoined(const absl::Status& status);
  void poll_idle_flows();
  void stop();

  const ForkGuard fork_guard_;
  const Settings settings_;
  const Log log_;
  Welcome welcome_;
  host::GpuMemorySupport gpu_memory_;

  std::shared_ptr<host::SharedPortStamps> port_stamps_;

  std::mutex mutex_;  // set-up and tear-down only
  std::map<ListenerName, std::weak_ptr<ListenComm>> listeners_;

  // Declared before its users, and so destroyed after them.
  std::unique_ptr<ControlThread> control_;
  // Owned by the control thread until it has ended.
  NodeMembership membership_;
  std::string rejoin_refusal_;          // of the control thread; "": none
  std::vector<std::string> addresses_;  // of the node's ports, as last received
  std::vector<UnusedCable> unused_;     // cables over which no circuit may join
  bool listening_ = true;               // on all addresses
  SetupKeys setup_keys_;                // from the node
  const TransportNegotiator transports_;
  std::unique_ptr<host::CircuitDialer> dialer_;
  std::optional<FlowMeans> flow_means_;
  std::unique_ptr<ProcessFlows> flows_;
  std::unique_ptr<host::CircuitAcceptor> acceptor_;
  std::unique_ptr<boost::asio::steady_timer> checks_timer_;
  std::unique_ptr<boost::asio::steady_timer> poll_idle_timer_;
  bool stopping_ = false;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_
