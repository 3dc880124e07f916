// What Cableway is in one application process, whichever communicators use it: the session with the node, the listener
// for circuits that end here, the circuits being opened from here, the control thread that runs all three.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/crypto/sub_key.h"
#include "core/linux/hop/circuit_acceptor.h"
#include "core/linux/hop/circuit_dialer.h"
#include "core/linux/rdma/gpu_memory_support.h"
#include "core/linux/session/session_client.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/comm/flow_comm.h"
#include "nccl_adapter/comm/listen_comm.h"
#include "nccl_adapter/process/control_thread.h"
#include "nccl_adapter/process/flow_reports.h"
#include "nccl_adapter/process/fork_guard.h"

namespace cableway::nccl {

// A circuit on its way: the control thread fills it in, NCCL's service thread asks for it until it is there.
class OpeningCircuit {
 public:
  struct Opened {
    host::HopConnection connection;
    CircuitSetup setup;
  };

  // Nothing yet, the circuit (once), or why there is none (once). Nothing of it is shared with the control thread.
  absl::StatusOr<std::optional<Opened>> take();
  void finish(absl::StatusOr<Opened> result);

 private:
  std::mutex mutex_;
  std::optional<absl::StatusOr<Opened>> result_;
};

class Process {
 public:
  // Joins this host's node, starting one where none runs. The status says what the operator can do.
  static absl::StatusOr<std::shared_ptr<Process>> start(const Settings& settings, std::string daemon, Log log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What the node said of itself when this process joined it. Any thread.
  const Welcome& node() const { return welcome_; }
  // Of the ports that it had then. What was promised to NCCL once stays so: it asks again and again. Any thread.
  const host::GpuMemorySupport& gpu_memory() const { return gpu_memory_; }
  const Log& log() const { return log_; }

  // Any thread:
  // Unavailable: this node has no address at which anything could arrive.
  absl::StatusOr<ListenHandle> add_listener(const std::shared_ptr<ListenComm>& listener);
  void remove_listener(const ListenComm& listener);
  std::shared_ptr<OpeningCircuit> open_circuit(const ListenHandle& handle);
  void close_connections(std::vector<host::UniqueFd> sockets);
  // Until it is unwatched the comm is looked at for silence and failure, once a second, and polled while it is idle,
  // four times a second; the node is told of it.
  void watch(FlowComm* comm, FlowOpened report);
  // `failure` as in FlowReports::ended().
  void unwatch(FlowComm* comm, const std::string& failure);

 private:
  Process(const Settings& settings, std::string daemon, Log log);

  absl::Status join_node();
  absl::Status try_to_join_node();
  absl::Status greet();
  absl::Status listen();
  // On the control thread:
  absl::Status connect_session();
  absl::Status rejoin_node();
  // The answer to the first Hello, without the key, which is kept apart.
  absl::StatusOr<Welcome> welcomed(const absl::StatusOr<SessionMessage>& reply);
  // What the node says then and again. FailedPrecondition: it has no key, and this process was told that there is one.
  absl::Status take(const Welcome& welcome);
  void take_again(const Welcome& welcome);
  void listen_on(const std::vector<std::string>& addresses);
  void look_for_gpu_memory();
  void request_path(const ListenHandle& handle, const std::shared_ptr<OpeningCircuit>& opening);
  void dial(const ListenHandle& handle, std::vector<Hop> hops, const std::shared_ptr<OpeningCircuit>& opening);
  absl::Status may_arrive(ListenComm& listener, const CircuitSetup& setup) const;
  void on_setup(ArrivedSetup arrived);
  void look_around();
  void poll_idle_flows();
  void stop();

  const ForkGuard fork_guard_;
  const Settings settings_;
  const std::string daemon_;
  const Log log_;
  Welcome welcome_;
  host::GpuMemorySupport gpu_memory_;

  std::mutex mutex_;  // set-up and tear-down only
  std::map<ListenerName, std::weak_ptr<ListenComm>> listeners_;
  std::map<std::string, std::uint64_t> flows_to_;  // how many flows have been opened, by destination
  std::set<FlowComm*> watched_;

  // Before what lives on it, and so destroyed after it.
  std::unique_ptr<ControlThread> control_;
  // The control thread's, until it has ended.
  std::shared_ptr<host::SessionClient> session_;
  FlowReports reports_;
  std::vector<std::string> addresses_;  // of the node's ports, as it said last
  bool listening_ = true;               // on all of them
  std::optional<SubKey> setup_key_;     // the node's
  const TransportNegotiator transports_;
  std::unique_ptr<host::CircuitDialer> dialer_;
  bool told_of_missing_key_ = false;
  std::unique_ptr<host::CircuitAcceptor> acceptor_;
  std::unique_ptr<boost::asio::steady_timer> look_around_timer_;
  std::unique_ptr<boost::asio::steady_timer> poll_idle_timer_;
  bool stopping_ = false;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_PROCESS_H_
