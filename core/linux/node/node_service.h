// The node of this host at run time: connects core/node/node.h to the kernel, answers its sessions, accepts circuits
// that pass through, and relays them.
#ifndef CABLEWAY_CORE_LINUX_NODE_NODE_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_NODE_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/arrivals/flood_notes.h"
#include "core/event/event_log.h"
#include "core/linux/control/udp_control_channel.h"
#include "core/linux/gate/shared_port_stamps.h"
#include "core/linux/hop/cable_probe.h"
#include "core/linux/hop/circuit_acceptor.h"
#include "core/linux/node/http_service.h"
#include "core/linux/node/key_service.h"
#include "core/linux/node/pulse_service.h"
#include "core/linux/node/relay_service.h"
#include "core/linux/node/view_service.h"
#include "core/linux/os/asio_clock.h"
#include "core/linux/ports/netlink_inventory.h"
#include "core/linux/ports/port_traffic.h"
#include "core/linux/session/session_group.h"
#include "core/linux/session/session_server.h"
#include "core/node/node.h"
#include "core/node/path_wait.h"
#include "core/ports/port_lost.h"
#include "core/session/process_ports.h"
#include "core/session/reported_flows.h"
#include "core/settings/settings.h"
#include "core/view/status_view.h"
#include "core/view/view_table.h"

namespace cableway::host {

// Runs on one thread, `io`'s; the data path has its own (relay_loop.h).
class NodeService {
 public:
  // A host's node waits for cables that are added later, and as root serves the users of a group (Settings::
  // session_group). A job's node serves its own user. It does not start where there can be no cables, as in a container
  // with its own network: the job was meant to reach the host's node.
  enum class For { kHost, kJob };

  // `on_event` receives every event, for the log. AlreadyExists: another node is running on this host.
  // FailedPrecondition, for a job: this network namespace has no cables (core/linux/ports/own_network.h).
  static absl::StatusOr<std::unique_ptr<NodeService>> start(boost::asio::io_context& io, const Settings& settings,
                                                            EventLog::Listener on_event, For whom = For::kHost);
  ~NodeService();

  // True if the node is unused: no session, and no circuit open or being set up.
  bool idle() const;
  // Applies the new settings that need no restart: draining, cable tests, the log's level. An event names all others
  // that differ.
  void reload(const Settings& settings);
  // Announces to the neighbours that the node is leaving. `reason` is for the log.
  void leave(const std::string& reason);
  // For events outside the node's own.
  EventSink& events() { return node_->event_sink(); }

 private:
  NodeService(boost::asio::io_context& io, const Settings& settings, EventLog::Listener on_event)
      : io_(io), settings_(settings), on_event_(std::move(on_event)), clock_(io), channel_(io, settings.control_port) {}

  absl::Status open(For whom);
  absl::Status make_node();
  std::string why_no_ports() const;
  absl::Status listen_for_sessions(For whom);
  SessionServer::Listener session_listener();
  void note_session_access(const std::optional<SessionGroup>& group);
  absl::Status start_relay();
  absl::Status start_pulses();
  absl::Status start_http(For whom);
  void follow_devices();
  void on_port_lost(PortLost lost);
  void on_cable_unfit(const PortLost& lost);
  void on_cable_up(const std::string& cable);
  void on_ports_changed();
  void listen_on_ports();
  void use_ports();
  void use_setup_keys();
  void note_no_ports();
  std::vector<HostProblem> problems() const;
  std::vector<std::string> control_socket_errors() const;
  void on_topology_changed();
  void note_members(const routing::Topology& topology);
  absl::Status on_report(const SessionPeer& peer, const SessionMessage& report);
  void on_request(const SessionPeer& peer, const SessionMessage& request, SessionServer::Answer answer);
  absl::Status carry_out(const DrainRequest& request);
  void find_paths(std::uint32_t user, const PathRequest& request, SessionServer::Answer answer);
  void test_cables(const CableProbeRequest& request, const SessionServer::Answer& answer);
  void on_probe(ArrivedProbe probe);
  void on_flood(const IdleRate::From& from, std::size_t per_second);
  Welcome welcome() const;
  ViewSources view_sources() const;
  HostTraffic port_traffic() const { return port_traffic_->read(node_->neighbours().ports()); }

  boost::asio::io_context& io_;
  Settings settings_;
  const EventLog::Listener on_event_;
  AsioClock clock_;
  const Instant started_ = clock_.now();
  UdpControlChannel channel_;
  std::unique_ptr<NetlinkInventory> inventory_;
  std::unique_ptr<KeyService> keys_;
  std::unique_ptr<Node> node_;
  const std::unique_ptr<PortTraffic> port_traffic_ = std::make_unique<PortTraffic>();
  std::unique_ptr<Timer> listen_retry_;
  std::string members_;  // nodes and cables, and whether each is draining, as of the last TOPOLOGY_CHANGED
  // By cable: why hellos found it unfit (large packets lost, an end's MTU lowered). Kept until the cable is up again.
  std::map<std::string, std::string> unfit_;
  std::string session_name_held_;           // by whom, with the consequence; empty: by this node
  std::string not_listening_;               // the current reason; empty while listening
  std::string no_ports_;                    // why there are no ports, as last reported
  std::vector<std::string> socket_errors_;  // as last reported

  std::unique_ptr<SharedPortStamps> port_stamps_;  // before its users
  std::optional<PathWait> paths_;
  std::unique_ptr<RelayService> relay_;
  std::unique_ptr<ViewService> views_;
  std::optional<ReportedFlows> flows_;  // before the members that update it
  ProcessPorts process_ports_;          // likewise
  std::unique_ptr<CableProbes> cable_probes_;
  std::unique_ptr<SessionServer> sessions_;
  std::optional<FloodNotes> floods_;
  std::unique_ptr<CircuitAcceptor> acceptor_;
  std::unique_ptr<PulseService> pulses_;  // null: none are sent
  GoneCables gone_;                       // since this node's start
  std::unique_ptr<HttpService> http_;     // null: nothing is served
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_NODE_SERVICE_H_
