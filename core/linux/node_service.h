// The node as a running thing on this host: gives core/node.h its kernel, answers its sessions, accepts circuits that
// pass through, and relays them.
#ifndef CABLEWAY_CORE_LINUX_NODE_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/datagram_seal.h"
#include "core/flow_ledger.h"
#include "core/linux/asio_clock.h"
#include "core/linux/cable_test.h"
#include "core/linux/circuit_acceptor.h"
#include "core/linux/hop_transports.h"
#include "core/linux/netlink_inventory.h"
#include "core/linux/pipe_slot.h"
#include "core/linux/rdma_relay_memory.h"
#include "core/linux/relay_loop.h"
#include "core/linux/relay_memory.h"
#include "core/linux/session_server.h"
#include "core/linux/udp_control_channel.h"
#include "core/node.h"
#include "core/settings.h"
#include "core/sub_key.h"

namespace cableway::linux_ {

// One thread, `io`'s; the data path has its own (relay_loop.h).
class NodeService {
 public:
  using Log = std::function<void(const std::string&)>;

  // AlreadyExists: another node runs here.
  static absl::StatusOr<std::unique_ptr<NodeService>> start(boost::asio::io_context& io, const Settings& settings,
                                                            Log log);
  ~NodeService();

  // Whether nobody needs this node now: no session, no circuit open or being set up.
  bool idle() const;
  // What of new settings can be taken without a restart: draining, cable tests, the log's level. The rest is named, if
  // it differs.
  std::string reload(const Settings& settings);
  // Says goodbye to the neighbours.
  void leave();

 private:
  // A path that a process wants and that is not there yet.
  struct WaitingPath {
    PathRequest request;
    SessionServer::Answer answer;
    Instant deadline;
  };

  // A set-up that names what this node has not heard of yet.
  struct WaitingSetup {
    PendingCircuit pending;
    Instant deadline;
  };

  NodeService(boost::asio::io_context& io, const Settings& settings, Log log)
      : io_(io),
        settings_(settings),
        log_(std::move(log)),
        clock_(io),
        channel_(io, settings.control_port),
        transports_(settings, VerbsQueuePair::Idle::kSleeps) {}

  absl::Status open();
  absl::Status make_node();
  void follow_devices();
  void on_ports_changed();
  void listen_on_ports();
  void use_ports();
  std::vector<std::string> problems() const;
  std::vector<std::string> deaf_ports() const;
  void on_topology_changed();
  void on_setup(PendingCircuit pending);
  void check_waiting_setups();
  void relay(PendingCircuit pending);
  void on_dialed(const std::shared_ptr<PendingCircuit>& pending, absl::StatusOr<HopConnection> downstream);
  // What waits in this node for its turn to leave: in a pipe, or in registered memory where a hop has a queue pair.
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const RdmaHalf* upstream, const RdmaHalf* downstream);
  void on_closed(RelayLoop::Closed closed);
  // For lines that strangers or a storm of changes can cause: of each kind a few a second, then a count of those left
  // out.
  struct LineCount {
    std::chrono::steady_clock::time_point since;
    std::uint64_t lines = 0;
  };
  void log_briefly(LineCount& kind, const std::string& line);
  void refuse(PendingCircuit pending, const absl::Status& reason);
  bool has_room() const;
  absl::Status no_room() const;
  void on_out_of_leases();
  void on_out_of_rdma_leases();
  void warn_of_small_pipes(const PipeSlot& floor);
  void on_request(const SessionMessage& request, SessionServer::Answer answer);
  absl::Status on_report(const SessionPeer& peer, const SessionMessage& report);
  void find_path(const PathRequest& request, SessionServer::Answer answer);
  void answer_waiting();
  void test_cable(const CableTestRequest& request, const SessionServer::Answer& answer);
  void on_probe(const Frame& probe, UniqueFd socket, std::optional<CircuitSeal> seal);
  Welcome welcome() const;
  ViewReply view(const std::string& name);
  ViewReply full_view(const std::string& name);

  boost::asio::io_context& io_;
  Settings settings_;
  Log log_;
  AsioClock clock_;
  UdpControlChannel channel_;
  std::unique_ptr<NetlinkInventory> inventory_;
  std::unique_ptr<DatagramSeal> seal_;
  std::optional<SubKey> setup_key_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<Timer> listen_again_;
  std::string not_listening_;      // why, as long as it lasts
  std::vector<std::string> deaf_;  // why neighbours are not heard, as last told

  std::list<WaitingPath> waiting_paths_;
  std::unique_ptr<Timer> path_deadline_;
  std::list<WaitingSetup> waiting_setups_;
  std::unique_ptr<Timer> setup_deadline_;

  HopTransports transports_;
  RelayMemory relay_memory_;
  std::unique_ptr<RdmaRelayMemory> rdma_memory_;
  std::uint64_t setups_refused_ = 0;
  std::size_t dialing_ = 0;
  bool warned_of_small_pipes_ = false;
  LineCount event_lines_;
  LineCount topology_lines_;
  LineCount circuit_lines_;
  LineCount session_lines_;
  FlowLedger flows_;  // before what tells it
  std::unique_ptr<CableTests> cable_tests_;
  std::unique_ptr<SessionServer> sessions_;
  std::unique_ptr<RelayLoop> loop_;
  std::unique_ptr<CircuitAcceptor> acceptor_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_NODE_SERVICE_H_
