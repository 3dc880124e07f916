#include "core/linux/node/node_service.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/random_value.h"
#include "core/linux/os/wall_clock.h"
#include "core/linux/ports/own_network.h"
#include "core/linux/session/session_listener.h"
#include "core/linux/session/session_names.h"
#include "core/live/gone_json.h"
#include "core/printable.h"
#include "core/settings/settings_reload.h"
#include "core/view/view_table.h"

namespace cableway::host {
namespace {

constexpr std::chrono::milliseconds kListenRetryDelay{500};

// Greater than in every earlier incarnation, provided that the host's clock has not gone backwards; the node handles
// that case (Flooding::Listener::defended).
std::uint64_t new_boot_nonce() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
  return static_cast<std::uint64_t>(microseconds);
}

std::string text(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace

absl::StatusOr<std::unique_ptr<NodeService>> NodeService::start(boost::asio::io_context& io, const Settings& settings,
                                                                EventLog::Listener on_event, For whom) {
  std::unique_ptr<NodeService> service(new NodeService(io, settings, std::move(on_event)));
  if (absl::Status status = service->open(whom); !status.ok()) return status;
  return service;
}

NodeService::~NodeService() = default;

absl::Status NodeService::open(For whom) {
  if (absl::Status status = make_node(); !status.ok()) return status;
  if (whom == For::kJob && inventory_->ports().empty()) {
    const std::string reason = no_cables_advised(read_own_network());
    if (!reason.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(reason, "; a job on this host alone needs no cables: NCCL_NET=Socket NCCL_NET_PLUGIN=none"));
    }
  }
  absl::StatusOr<std::unique_ptr<SharedPortStamps>> stamps = SharedPortStamps::create();
  if (!stamps.ok()) return stamps.status();
  port_stamps_ = *std::move(stamps);
  // First, because holding the session sockets is what makes this process the host's node.
  if (absl::Status status = listen_for_sessions(whom); !status.ok()) return status;
  if (absl::Status status = start_relay(); !status.ok()) return status;
  cable_probes_ = std::make_unique<CableProbes>(io_, settings_);
  inventory_->watch_losses([this](const PortLost& lost) { on_port_lost(lost); });
  follow_devices();
  use_ports();
  if (absl::Status status = start_pulses(); !status.ok()) return status;
  node_->start();
  listen_on_ports();
  sessions_->update_welcome(welcome());
  note_no_ports();
  if (absl::Status status = start_http(whom); !status.ok()) return status;
  keys_->follow(clock_, events(), [this] {
    use_setup_keys();
    sessions_->update_welcome(welcome());
  });
  if (settings_.key_file.empty()) {
    events().raise(EventCode::kKeyMissing, std::string(kind_of(EventCode::kKeyMissing).meaning));
  }
  events().raise(EventCode::kNodeStarted,
                 absl::StrCat("node ", settings_.node, " of cluster ", settings_.cluster, " is up"),
                 {{"node", settings_.node}, {"cluster", settings_.cluster}});
  return absl::OkStatus();
}

absl::Status NodeService::listen_for_sessions(For whom) {
  const absl::StatusOr<SessionNames> names = session_names(settings_);
  if (!names.ok()) return names.status();
  std::optional<SessionGroup> group;
  if (whom == For::kHost && ::geteuid() == 0) {
    const absl::StatusOr<SessionGroup> found = find_session_group(settings_.session_group);
    if (!found.ok()) return found.status();
    group = *found;
  }
  absl::StatusOr<SessionListeners> listeners = open_session_listeners(*names, group);
  if (!listeners.ok()) return listeners.status();
  if (!listeners->name_held_by.empty()) {
    session_name_held_ = absl::StrCat(listeners->name_held_by, " holds the abstract session name @", names->own,
                                      "; this node runs without it");
  }
  flows_.emplace(clock_, events());
  sessions_ = SessionServer::start(
      io_, std::move(listeners->all), welcome(),
      [this](const SessionPeer& peer, const SessionMessage& request, SessionServer::Answer answer) {
        on_request(peer, request, std::move(answer));
      },
      session_listener(), port_stamps_->file().get());
  note_session_access(group);
  return absl::OkStatus();
}

SessionServer::Listener NodeService::session_listener() {
  return {[this](const SessionPeer& peer, const SessionMessage& report) { return on_report(peer, report); },
          [this](const SessionPeer& peer) {
            flows_->left(peer);
            if (process_ports_.left(peer)) node_->tell_ports(process_ports_.all());
          },
          [this](const SessionPeer& peer) { views_->ended(peer); },
          [this](std::int64_t process, const std::string& reason) {
            events().raise(EventCode::kSessionRefused,
                           absl::StrCat("refused a session to process ", process, ": ", reason),
                           {{"process", absl::StrCat(process)}, {"reason", reason}});
          },
          [this](const SessionPeer& peer, std::size_t waiting_bytes) {
            events().raise(EventCode::kSessionStalled,
                           absl::StrCat("ended the session of process ", peer.process, ": it has not read ",
                                        waiting_bytes, " bytes of answers"),
                           {{"process", absl::StrCat(peer.process)}, {"bytes", absl::StrCat(waiting_bytes)}});
          }};
}

void NodeService::note_session_access(const std::optional<SessionGroup>& group) {
  if (!session_name_held_.empty()) {
    events().raise(EventCode::kSessionNameTaken, session_name_held_, {{"reason", session_name_held_}});
  }
  if (group && !group->everyone && !group->group) {
    events().raise(EventCode::kSessionGroupMissing,
                   absl::StrCat("this host has no group ", kDefaultSessionGroup,
                                ", and CABLEWAY_SESSION_GROUP is not set: only root may open sessions"));
  }
}

absl::Status NodeService::start_relay() {
  auto relay = RelayService::start(
      io_, settings_, settings_.node,
      {[this](const CircuitSetup& setup) { return node_->check_transit(setup); },
       [this](const std::string& own, const std::string& other) { return node_->neighbour_at(own, other); },
       [this] { return node_->share_holders(); }},
      events(), port_stamps_->page());
  if (!relay.ok()) return relay.status();
  relay_ = *std::move(relay);
  views_ = std::make_unique<ViewService>(
      *node_, relay_->means(), [this] { return keys_->setup_keys().sealing(); }, [this] { return view_sources(); });
  auto acceptor = CircuitAcceptor::listen(
      io_, {}, {settings_.relay_port, settings_.relay_port},
      [this](ArrivedSetup setup) {
        ViewService::is_for(setup.setup()) ? views_->arrived(std::move(setup)) : relay_->arrived(std::move(setup));
      },
      [this](const std::string& peer, const absl::Status& reason) { relay_->refused_connection(peer, reason); });
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  use_setup_keys();
  acceptor_->on_probe([this](ArrivedProbe probe) { on_probe(std::move(probe)); });
  acceptor_->share_by([this](const SetupConnection& connection) {
    return node_->neighbour_at(connection.own_address(), connection.other_address());
  });
  floods_.emplace(clock_, events(), settings_.relay_port);
  acceptor_->on_flood([this](const IdleRate::From& from, std::size_t per_second) { on_flood(from, per_second); });
  return absl::OkStatus();
}

void NodeService::use_setup_keys() {
  acceptor_->seal_with(keys_->setup_keys());
  relay_->seal_with(keys_->setup_keys().sealing());
}

absl::Status NodeService::make_node() {
  auto keys = KeyService::open(settings_.key_file);
  if (!keys.ok()) return keys.status();
  keys_ = *std::move(keys);
  auto inventory = NetlinkInventory::open(io_, settings_.ports);
  if (!inventory.ok()) return inventory.status();
  inventory_ = *std::move(inventory);
  NodeOptions options;
  options.identity = {settings_.cluster, settings_.node, new_boot_nonce()};
  options.relay_port = settings_.relay_port;
  options.draining = settings_.drain;
  options.hello = {settings_.hello, settings_.hold};
  options.wall_clock = host_wall_time;
  node_ = std::make_unique<Node>(
      options, clock_, *inventory_, channel_, keys_->seal(), random_value<std::uint64_t>,
      Node::Observer{[this] { on_topology_changed(); }, [this] { on_ports_changed(); }, on_event_,
                     [this](const PortLost& lost) { on_cable_unfit(lost); },
                     [this](const std::string& cable) { on_cable_up(cable); }, [this] { relay_->topology_changed(); }});
  paths_.emplace(clock_, events(), [this](const std::string& destination, std::uint64_t ordinal, std::size_t most) {
    return node_->paths().paths_for_flow(destination, ordinal, most);
  });
  return absl::OkStatus();
}

absl::Status NodeService::start_pulses() {
  auto pulses = PulseService::start(io_, settings_, keys_->seal(), *node_,
                                    {[this](PortLost lost) { on_port_lost(std::move(lost)); },
                                     [this] {
                                       paths_->topology_changed();
                                       relay_->topology_changed();
                                       sessions_->update_welcome(welcome());
                                       sessions_->tell(PathsChanged{});
                                     }});
  if (!pulses.ok()) return pulses.status();
  pulses_ = *std::move(pulses);
  return absl::OkStatus();
}

// A job's node has no page: it may run as a user who cannot read the token, and other nodes of the host may have the
// port.
absl::Status NodeService::start_http(For whom) {
  if (whom == For::kJob) return absl::OkStatus();
  const HttpService::Sources sources = {[this] { return view_sources(); }, [this] { return port_traffic(); },
                                        [this] { return gone_.list(clock_.now()); },
                                        [this](const ClusterViewRequest& request, ClusterViews::Answer answer) {
                                          views_->request({}, request, std::move(answer));
                                        }};
  auto http = HttpService::start(io_, clock_, events(), settings_, sources);
  if (!http.ok()) return http.status();
  http_ = *std::move(http);
  return absl::OkStatus();
}

void NodeService::follow_devices() {
  if (settings_.transport == TransportSetting::kTcp) return;
  const absl::Status followed = inventory_->follow_devices(open_verbs_devices(), events());
  if (followed.ok()) return;
  events().raise(
      EventCode::kRdmaUnwatched,
      absl::StrCat("RDMA devices that come or go are noticed only when an interface changes: ", text(followed)),
      {{"reason", text(followed)}});
}

// Processes that may request a path from this node may also set it up, so they get the set-up keys.
Welcome NodeService::welcome() const {
  Welcome welcome = node_->welcome();
  welcome.setup_keys = keys_->setup_keys();
  if (pulses_ != nullptr) welcome.unused = pulses_->unused();
  for (const auto& [cable, reason] : unfit_) {
    if (welcome.unused.size() < kMaxUnused) welcome.unused.push_back({cable, reason, false});
  }
  return welcome;
}

// Runs before the node handles the change: adjacencies and routes are less urgent.
void NodeService::on_port_lost(PortLost lost) {
  lost.reason = printable(lost.reason, kMaxPortLostReason);
  relay_->lose_port(lost);
  sessions_->tell(lost);
  if (!lost.cable.empty()) sessions_->update_welcome(welcome());
}

// Called before the node takes the cable down. Pulses judge no cable that is down, so the verdict is kept here.
void NodeService::on_cable_unfit(const PortLost& lost) {
  // Cables that were plugged in elsewhere never come up again.
  if (unfit_.size() == kMaxUnused && !unfit_.contains(lost.cable)) unfit_.erase(unfit_.begin());
  unfit_[lost.cable] = printable(lost.reason, kMaxPortLostReason);
  on_port_lost(lost);
}

void NodeService::on_cable_up(const std::string& cable) {
  if (unfit_.erase(cable) > 0) sessions_->update_welcome(welcome());
}

void NodeService::on_ports_changed() {
  relay_->release_lost();
  use_ports();
  listen_on_ports();
  note_no_ports();
  sessions_->update_welcome(welcome());
  if (pulses_ != nullptr) pulses_->update();
}

// Empty while there are ports.
std::string NodeService::why_no_ports() const {
  std::string reason = inventory_->status();
  if (reason.empty()) return reason;
  const std::string no_cables = no_cables_advised(read_own_network());
  return no_cables.empty() ? reason : absl::StrCat(reason, "; ", no_cables);
}

void NodeService::note_no_ports() {
  std::string reason = why_no_ports();
  if (!reason.empty() && reason != no_ports_) events().raise(EventCode::kNoPorts, reason, {{"reason", reason}});
  no_ports_ = std::move(reason);
}

void NodeService::listen_on_ports() {
  listen_retry_.reset();
  const absl::Status status = acceptor_->set_addresses(node_->addresses());
  // An address may be tentative, or another process may briefly hold the TCP port.
  std::string reason =
      status.ok() ? ""
                  : absl::StrCat(text(status),
                                 ": circuits cannot be accepted there; end the process that holds the port, or set "
                                 "CABLEWAY_RELAY_PORT");
  // Retried often, reported once.
  if (!reason.empty() && reason != not_listening_) {
    events().raise(EventCode::kNotListening, reason, {{"reason", text(status)}});
  }
  not_listening_ = std::move(reason);
  if (status.ok()) return;
  listen_retry_ = clock_.call_after(kListenRetryDelay, [this] { listen_on_ports(); });
}

void NodeService::on_topology_changed() {
  note_members(node_->paths().topology());
  paths_->topology_changed();
  relay_->topology_changed();
  if (pulses_ != nullptr) pulses_->update();
  gone_.learn(node_->paths().topology(), clock_.now(), host_wall_time());
}

// Raises TOPOLOGY_CHANGED and informs processes if nodes or cables have changed, or which of them paths may use, but
// not for new latencies.
void NodeService::note_members(const routing::Topology& topology) {
  std::string members;
  for (const routing::Node& node : topology.nodes()) absl::StrAppend(&members, node.name, node.draining ? "-" : "+");
  for (const routing::Cable& cable : topology.cables()) absl::StrAppend(&members, cable.name, "+");
  for (const routing::Cable& cable : topology.unused_cables()) absl::StrAppend(&members, cable.name, "-");
  if (std::exchange(members_, members) == members) return;
  sessions_->tell(PathsChanged{});
  const std::size_t nodes = topology.node_count();
  const std::size_t cables = topology.plugged_cables().size();
  events().raise(EventCode::kTopologyChanged,
                 absl::StrCat("the topology now has ", nodes, nodes == 1 ? " node and " : " nodes and ", cables,
                              cables == 1 ? " cable" : " cables"),
                 {{"nodes", absl::StrCat(nodes)}, {"cables", absl::StrCat(cables)}});
}

void NodeService::leave(const std::string& reason) {
  events().raise(EventCode::kNodeLeaving, absl::StrCat(reason, ": leaving"), {{"reason", reason}});
  pulses_.reset();
  node_->leave();
}

void NodeService::reload(const Settings& settings) {
  // An unchanged setting does not end a drain that an operator has started since.
  if (settings.drain != settings_.drain) node_->set_draining(settings.drain);
  adopt_reloaded(settings, settings_);
  const std::string others = different_settings(settings_, settings);
  if (others.empty()) return events().raise(EventCode::kSettingsChanged, "reloaded");
  events().raise(EventCode::kSettingsChanged, absl::StrCat("reloaded; a restart is needed for ", others),
                 {{"restart_needed", others}});
}

bool NodeService::idle() const {
  return sessions_->connections() == 0 && relay_->idle();
}

void NodeService::on_request(const SessionPeer& peer, const SessionMessage& request, SessionServer::Answer answer) {
  if (const auto* path = std::get_if<PathRequest>(&request)) return find_paths(peer.user, *path, std::move(answer));
  if (const auto* wanted = std::get_if<ViewRequest>(&request)) return answer(answer_view(wanted->name, view_sources()));
  if (const auto* of_all = std::get_if<ClusterViewRequest>(&request)) return views_->request(peer, *of_all, answer);
  if (const auto* test = std::get_if<CableProbeRequest>(&request)) return test_cables(*test, answer);
  if (const auto* drain = std::get_if<DrainRequest>(&request)) return answer(DrainReply{text(carry_out(*drain))});
  answer(Refusal{"not a request that a node answers"});
}

absl::Status NodeService::on_report(const SessionPeer& peer, const SessionMessage& report) {
  const auto* listens = std::get_if<ListensAt>(&report);
  if (listens == nullptr) return flows_->take(peer, report);
  process_ports_.take(peer, *listens);
  node_->tell_ports(process_ports_.all());
  return absl::OkStatus();
}

absl::Status NodeService::carry_out(const DrainRequest& request) {
  if (request.cable.empty()) {
    node_->set_draining(request.drain);
    return absl::OkStatus();
  }
  return request.drain ? node_->drain_cable(request.cable) : node_->undrain_cable(request.cable);
}

void NodeService::test_cables(const CableProbeRequest& request, const SessionServer::Answer& answer) {
  const auto refuse = [&](std::string reason) { answer(CableProbeReply{std::move(reason), {}}); };
  if (!settings_.cable_test) return refuse("CABLEWAY_CABLE_TEST is false on this node");
  if (request.duration_ms < 1 || request.duration_ms > kMaxProbeMs) {
    return refuse(absl::StrCat("a test of ", request.duration_ms, " ms; expected 1 to ", kMaxProbeMs));
  }
  if (request.cables.empty()) return refuse("the request names no cable");
  std::vector<CableProbePlan> plans;
  for (const ProbedCable& wanted : request.cables) {
    const std::optional<CableEnds> cable = node_->find_cable(wanted);
    if (!cable.has_value()) {
      return refuse(absl::StrCat("no cable of port ", wanted.interface, " to node ", wanted.node, " port ",
                                 wanted.other_interface, " is up"));
    }
    plans.push_back({absl::StrCat(wanted.interface, " to node ", wanted.node), cable->own_address, cable->other_address,
                     cable->relay_port, std::chrono::milliseconds(request.duration_ms), request.both_ways,
                     keys_->setup_keys().sealing()});
  }
  cable_probes_->run(plans, [answer](const std::vector<CableRates>& rates) { answer(CableProbeReply{"", rates}); });
}

// Serves only the other end of a cable; other peers must not take this node's time.
void NodeService::on_probe(ArrivedProbe probe) {
  if (!settings_.cable_test) return std::move(probe).refuse("CABLEWAY_CABLE_TEST is false on that node");
  if (node_->is_cable_up(probe.connection->own_address(), probe.connection->other_address())) {
    return cable_probes_->serve(std::move(probe));
  }
  std::move(probe).refuse("no cable with these addresses is up on that node");
}

void NodeService::on_flood(const IdleRate::From& from, std::size_t per_second) {
  const std::vector<PortFacts>& ports = node_->neighbours().ports();
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const PortFacts& each) {
    return std::any_of(each.addresses.begin(), each.addresses.end(),
                       [&](const PortPrefix& prefix) { return routing::to_text(prefix.address) == from.listener; });
  });
  floods_->note(from, per_second, port == ports.end() ? "" : port->interface);
}

void NodeService::find_paths(std::uint32_t user, const PathRequest& request, SessionServer::Answer answer) {
  auto reply = [number = request.request, answer = std::move(answer)](PathWait::Paths paths) {
    if (!paths.ok()) return answer(PathReply{number, text(paths.status()), {}});
    answer(PathReply{number, {}, *std::move(paths)});
  };
  // Answers at once, since the process will ask again soon.
  if (request.for_inquiry) return reply(node_->paths().paths_for_inquiry(request.node, request.ordinal, request.most));
  paths_->find(request.node, request.ordinal, request.most, user, std::move(reply));
}

ViewSources NodeService::view_sources() const {
  return {.node = *node_,
          .transport = settings_.transport,
          .topology = [this]() -> const routing::Topology& { return node_->paths().topology(); },
          .relay = [this] { return relay_->status(); },
          .flows = [this] { return flows_->status(); },
          .relay_counts = [this] { return relay_->counts(); },
          .flow_counts = [this] { return flows_->counts(); },
          .sessions = [this] { return sessions_->sessions(); },
          .problems = [this] { return problems(); },
          .keys = [this] { return keys_->fingerprints(); },
          .rejected = [this] { return inventory_->rejected(); },
          .control = [this] { return channel_.counters(); },
          .port_bytes = [this] { return port_bytes_of(port_traffic()); },
          .gone = [this] { return gone_json(gone_.list(clock_.now())); },
          .run = {.version = CABLEWAY_VERSION, .started = started_, .wall_clock = host_wall_time}};
}

// Why circuits or neighbours cannot reach this node, or could not after its next start.
std::vector<HostProblem> NodeService::problems() const {
  std::vector<HostProblem> problems;
  for (std::string& reason : control_socket_errors())
    problems.push_back({EventCode::kControlSocketFailed, std::move(reason)});
  std::string none = why_no_ports();
  if (!none.empty()) problems.push_back({EventCode::kNoPorts, std::move(none)});
  if (!keys_->problem().empty()) problems.push_back({EventCode::kKeyUnreadable, keys_->problem()});
  if (http_ != nullptr && !http_->problem().empty()) problems.push_back({EventCode::kHttpFailed, http_->problem()});
  if (!session_name_held_.empty()) problems.push_back({EventCode::kSessionNameTaken, session_name_held_});
  if (!not_listening_.empty()) problems.push_back({EventCode::kNotListening, not_listening_});
  if (std::string flood = floods_->problem(); !flood.empty()) {
    problems.push_back({EventCode::kConnectionsFlooded, std::move(flood)});
  }
  if (pulses_ != nullptr) {
    for (HostProblem& problem : pulses_->problems()) problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<std::string> NodeService::control_socket_errors() const {
  std::vector<std::string> reasons;
  for (const PortControlCounters& port : channel_.counters().ports) {
    for (const std::string& reason : port.not_open) {
      reasons.push_back(absl::StrCat(reason,
                                     ": hellos cannot be received there; end the process that holds the port, or set "
                                     "CABLEWAY_CONTROL_PORT on all nodes"));
    }
  }
  return reasons;
}

void NodeService::use_ports() {
  channel_.update_ports(inventory_->ports());
  std::vector<std::string> errors = control_socket_errors();
  for (const std::string& reason : errors) {
    if (std::find(socket_errors_.begin(), socket_errors_.end(), reason) != socket_errors_.end()) continue;
    events().raise(EventCode::kControlSocketFailed, reason, {{"reason", reason}});
  }
  socket_errors_ = std::move(errors);
}

}  // namespace cableway::host
