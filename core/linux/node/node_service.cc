#include "core/linux/node/node_service.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/crypto/keyed_seal.h"
#include "core/linux/files/key_reader.h"
#include "core/linux/os/random_value.h"
#include "core/linux/session/session_socket.h"
#include "core/settings/settings_table.h"
#include "core/view/view_table.h"

namespace cableway::host {
namespace {

constexpr std::chrono::milliseconds kListenAgainAfter{500};

// Greater than in every earlier life as far as the host's clock goes forward; what happens when it does not is the
// node's affair (Flooding::Listener::outlived).
std::uint64_t new_boot_nonce() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
  return static_cast<std::uint64_t>(microseconds);
}

std::string text(const absl::Status& status) {
  return std::string(status.message());
}

// Keys of the settings that differ, "node, ports".
std::string different_settings(const Settings& left, const Settings& right) {
  std::string keys;
  for (const Setting& setting : all_settings()) {
    if (setting.show(left) == setting.show(right)) continue;
    absl::StrAppend(&keys, keys.empty() ? "" : ", ", absl::string_view(setting.key.data(), setting.key.size()));
  }
  return keys;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NodeService>> NodeService::start(boost::asio::io_context& io, const Settings& settings,
                                                                Log log) {
  std::unique_ptr<NodeService> service(new NodeService(io, settings, std::move(log)));
  if (absl::Status status = service->open(); !status.ok()) return status;
  return service;
}

NodeService::~NodeService() = default;

absl::Status NodeService::open() {
  auto endpoint = session_endpoint(settings_.cluster, settings_.runtime_dir);
  if (!endpoint.ok()) return endpoint.status();
  if (absl::Status status = make_node(); !status.ok()) return status;
  // Before anything that can be heard, because binding the session socket is what makes this process the node.
  auto sessions = SessionServer::listen(
      io_, *endpoint, welcome(),
      [this](const SessionMessage& request, SessionServer::Answer answer) { on_request(request, std::move(answer)); },
      {[this](const SessionPeer& peer, const SessionMessage& report) { return on_report(peer, report); },
       [this](const SessionPeer& peer) { flows_.left(peer); },
       [this](const std::string& line) { log_briefly(session_lines_, line); }});
  if (!sessions.ok()) return sessions.status();
  sessions_ = *std::move(sessions);
  auto relay = RelayService::start(io_, settings_, settings_.node,
                                   {[this](const CircuitSetup& setup) { return node_->paths().check_transit(setup); },
                                    [this](const std::string& line) { log_(line); },
                                    [this](const std::string& line) { log_briefly(circuit_lines_, line); }});
  if (!relay.ok()) return relay.status();
  relay_ = *std::move(relay);
  relay_->seal_with(setup_key_);
  auto acceptor = CircuitAcceptor::listen(
      io_, {}, {settings_.relay_port, settings_.relay_port},
      [this](ArrivedSetup setup) { relay_->arrived(std::move(setup)); },
      [this](const std::string& peer, const absl::Status& reason) {
        relay_->refused_connection();
        log_briefly(circuit_lines_, absl::StrCat("refused a connection from ", peer, ": ", reason.message()));
      });
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  cable_probes_ = std::make_unique<CableProbes>(io_);
  acceptor_->seal_with(setup_key_);
  acceptor_->on_probe([this](ArrivedProbe probe) { on_probe(std::move(probe)); });
  follow_devices();
  use_ports();
  node_->start();
  listen_on_ports();
  sessions_->update_welcome(welcome());
  if (const std::string status = inventory_->status(); !status.empty()) log_(status);
  if (settings_.key_file.empty()) {
    log_("no CABLEWAY_KEY_FILE: whoever can reach a cable can join the cluster and read and change what crosses it");
  }
  return absl::OkStatus();
}

absl::Status NodeService::make_node() {
  seal_ = std::make_unique<NoSeal>();
  if (!settings_.key_file.empty()) {
    absl::StatusOr<ControlKey> key = read_key(settings_.key_file);
    if (!key.ok()) return key.status();
    setup_key_ = key->subkey(KeyUse::kCircuitSetup);
    seal_ = std::make_unique<KeyedSeal>(*std::move(key));
  }
  auto inventory = NetlinkInventory::open(io_, settings_.ports);
  if (!inventory.ok()) return inventory.status();
  inventory_ = *std::move(inventory);
  NodeOptions options;
  options.identity = {settings_.cluster, settings_.node, new_boot_nonce()};
  options.relay_port = settings_.relay_port;
  options.draining = settings_.drain;
  options.hello = {settings_.hello, settings_.hold};
  node_ = std::make_unique<Node>(options, clock_, *inventory_, channel_, *seal_, random_value<std::uint64_t>,
                                 Node::Observer{[this] { on_topology_changed(); }, [this] { on_ports_changed(); },
                                                [this](const Event& event) { log_briefly(event_lines_, event.text); }});
  return absl::OkStatus();
}

void NodeService::follow_devices() {
  if (settings_.transport == TransportSetting::kTcp) return;
  const absl::Status followed =
      inventory_->follow_devices(open_verbs_devices(), [this](const std::string& text) { node_->tell(text); });
  if (!followed.ok()) {
    log_(absl::StrCat("RDMA devices that come or go are noticed only when an interface changes: ", text(followed)));
  }
  for (const PortFacts& port : inventory_->ports()) {
    if (!port.rdma_trouble.empty()) node_->tell(absl::StrCat("port ", port.interface, ": ", port.rdma_trouble));
  }
}

// Whoever may have a path from this node may set it up.
Welcome NodeService::welcome() const {
  Welcome welcome = node_->welcome();
  welcome.setup_key = setup_key_;
  return welcome;
}

void NodeService::on_ports_changed() {
  relay_->release_lost();
  use_ports();
  listen_on_ports();
  sessions_->update_welcome(welcome());
}

void NodeService::listen_on_ports() {
  listen_again_.reset();
  const absl::Status status = acceptor_->set_addresses(node_->addresses());
  // An address may be tentative, or another process may sit on the port for a moment.
  std::string reason = status.ok() ? ""
                                   : absl::StrCat(text(status),
                                                  ": no circuit gets in there; end whoever holds the port, or set "
                                                  "CABLEWAY_RELAY_PORT");
  // Tried often, told once.
  if (!reason.empty() && reason != not_listening_) log_(reason);
  not_listening_ = std::move(reason);
  if (status.ok()) return;
  listen_again_ = clock_.call_after(kListenAgainAfter, [this] { listen_on_ports(); });
}

void NodeService::on_topology_changed() {
  log_briefly(topology_lines_, absl::StrCat("the topology has ", node_->paths().topology().node_count(), " nodes and ",
                                            node_->paths().topology().cable_count(), " cables now"));
  paths_.topology_changed();
  relay_->topology_changed();
}

void NodeService::leave() {
  node_->leave();
}

std::string NodeService::reload(const Settings& settings) {
  node_->set_draining(settings.drain);
  settings_.drain = settings.drain;
  settings_.log_level = settings.log_level;
  settings_.cable_test = settings.cable_test;
  return different_settings(settings_, settings);
}

bool NodeService::idle() const {
  return sessions_->connections() == 0 && relay_->idle();
}

void NodeService::log_briefly(LineCount& kind, const std::string& line) {
  constexpr std::uint64_t kLinesPerSecond = 10;
  const auto now = std::chrono::steady_clock::now();
  if (now - kind.since >= std::chrono::seconds(1)) {
    if (kind.lines > kLinesPerSecond) log_(absl::StrCat(kind.lines - kLinesPerSecond, " more of that kind"));
    kind = {now, 0};
  }
  if (++kind.lines <= kLinesPerSecond) log_(line);
}

void NodeService::on_request(const SessionMessage& request, SessionServer::Answer answer) {
  if (const auto* path = std::get_if<PathRequest>(&request)) return find_path(*path, std::move(answer));
  if (const auto* wanted = std::get_if<ViewRequest>(&request)) return answer(answer_view(wanted->name, view_sources()));
  if (const auto* test = std::get_if<CableProbeRequest>(&request)) return test_cable(*test, answer);
  answer(Refusal{"not a request that a node answers"});
}

absl::Status NodeService::on_report(const SessionPeer& peer, const SessionMessage& report) {
  if (const auto* opened = std::get_if<FlowOpened>(&report)) return flows_.opened(peer, *opened, clock_.now());
  const auto& end = std::get<FlowEnded>(report);
  const absl::StatusOr<std::optional<FlowOpened>> flow = flows_.ended(peer, end);
  if (!flow.ok()) return flow.status();
  if (!end.failure.empty()) {
    log_briefly(session_lines_, absl::StrCat("process ", peer.process, ": ", end.failure));
  }
  return absl::OkStatus();
}

void NodeService::test_cable(const CableProbeRequest& request, const SessionServer::Answer& answer) {
  const auto refuse = [&](std::string reason) { answer(CableProbeReply{std::move(reason)}); };
  if (!settings_.cable_test) return refuse("CABLEWAY_CABLE_TEST is false on this node");
  if (request.duration_ms < 1 || request.duration_ms > kMaxProbeMs) {
    return refuse(absl::StrCat("a test of ", request.duration_ms, " ms; expected 1 to ", kMaxProbeMs));
  }
  for (const PortFacts& port : node_->neighbours().ports()) {
    if (port.interface != request.interface) continue;
    for (const auto& [key, neighbour] : node_->neighbours().all()) {
      const routing::Advertisement* there = node_->flooding().database().find(key.node);
      if (key.port != port.id || neighbour.name != request.node || !neighbour.up || there == nullptr) continue;
      const CableProbePlan plan{absl::StrCat(port.interface, " to node ", neighbour.name),
                                routing::to_text(neighbour.addresses.ours),
                                routing::to_text(neighbour.addresses.theirs),
                                there->relay_port,
                                std::chrono::milliseconds(request.duration_ms),
                                request.both_ways,
                                setup_key_};
      return cable_probes_->run(plan, answer);
    }
  }
  refuse(absl::StrCat("no cable of port ", request.interface, " to a node ", request.node, " is up"));
}

// Only from the other end of a cable: nobody else is given this node's time.
void NodeService::on_probe(ArrivedProbe probe) {
  if (!settings_.cable_test) return std::move(probe).refuse("CABLEWAY_CABLE_TEST is false on that node");
  const auto is = [](const std::string& text, const routing::PortAddress& wanted) {
    absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(text);
    if (address.ok()) address->scope.clear();
    return address.ok() && *address == wanted;
  };
  for (const auto& [key, neighbour] : node_->neighbours().all()) {
    if (!neighbour.up || !is(probe.connection->own_address(), neighbour.addresses.ours)) continue;
    if (is(probe.connection->other_address(), neighbour.addresses.theirs)) {
      return cable_probes_->serve(std::move(probe));
    }
  }
  std::move(probe).refuse("no cable with these addresses is up on that node");
}

void NodeService::find_path(const PathRequest& request, SessionServer::Answer answer) {
  paths_.find(request.node, request.ordinal,
              [number = request.request, answer = std::move(answer)](PathWait::Path path) {
                if (!path.ok()) return answer(PathReply{number, text(path.status()), {}});
                answer(PathReply{number, {}, {*std::move(path)}});
              });
}

ViewSources NodeService::view_sources() const {
  return {.node = *node_,
          .transport = settings_.transport,
          .topology = [this]() -> const routing::Topology& { return node_->paths().topology(); },
          .relay = [this] { return relay_->status(); },
          .flows = [this] { return flows_.status(clock_.now()); },
          .sessions = [this] { return sessions_->sessions(); },
          .problems = [this] { return problems(); },
          .rejected = [this] { return inventory_->rejected(); },
          .control = [this] { return channel_.counters(); }};
}

// Why circuits or neighbours cannot get in.
std::vector<std::string> NodeService::problems() const {
  std::vector<std::string> problems = deaf_ports();
  if (const std::string none = inventory_->status(); !none.empty()) problems.push_back(none);
  if (!not_listening_.empty()) problems.push_back(not_listening_);
  return problems;
}

std::vector<std::string> NodeService::deaf_ports() const {
  std::vector<std::string> reasons;
  for (const PortControlCounters& port : channel_.counters().ports) {
    for (const std::string& reason : port.not_open) {
      reasons.push_back(absl::StrCat(reason,
                                     ": no neighbour is heard there; end whoever holds the port, or set "
                                     "CABLEWAY_CONTROL_PORT on all nodes"));
    }
  }
  return reasons;
}

void NodeService::use_ports() {
  channel_.update_ports(inventory_->ports());
  std::vector<std::string> deaf = deaf_ports();
  for (const std::string& reason : deaf) {
    if (std::find(deaf_.begin(), deaf_.end(), reason) == deaf_.end()) log_(reason);
  }
  deaf_ = std::move(deaf);
}

}  // namespace cableway::host
