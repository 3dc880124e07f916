#include "core/linux/node_service.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/events_view.h"
#include "core/hop_names.h"
#include "core/keyed_seal.h"
#include "core/linux/circuit_dialer.h"
#include "core/linux/key_reader.h"
#include "core/linux/lingering_close.h"
#include "core/linux/random_value.h"
#include "core/linux/session_socket.h"
#include "core/ports_view.h"
#include "core/settings_table.h"
#include "core/status_view.h"
#include "routing/topology_file.h"

namespace cableway::linux_ {
namespace {

constexpr std::chrono::milliseconds kListenAgainAfter{500};
// For this node to hear of a cable that a set-up names.
constexpr std::chrono::milliseconds kTransitLimit{2000};
constexpr std::size_t kMaxWaitingSetups = 256;
// For a path to appear; a process waits some seconds longer for the answer.
constexpr std::chrono::milliseconds kPathLimit{8000};

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
  relay_memory_ = share_out_relay_memory(settings_.relay_memory);
  auto rdma_memory = RdmaRelayMemory::reserve(settings_.relay_memory);
  if (!rdma_memory.ok()) return rdma_memory.status();
  rdma_memory_ = *std::move(rdma_memory);
  auto loop = RelayLoop::start(relay_memory_, rdma_memory_.get(), settings_.relay_spin,
                               {[this](RelayLoop::Closed closed) {
                                  auto shared = std::make_shared<RelayLoop::Closed>(std::move(closed));
                                  boost::asio::post(io_, [this, shared] { on_closed(std::move(*shared)); });
                                },
                                [this] { boost::asio::post(io_, [this] { on_out_of_leases(); }); },
                                [this] { boost::asio::post(io_, [this] { on_out_of_rdma_leases(); }); }});
  if (!loop.ok()) return loop.status();
  loop_ = *std::move(loop);
  if (relay_memory_.leases == 0) {
    log_(absl::StrCat("the relay memory of ", find_setting("relay_memory")->show(settings_),
                      " has no lease for busy circuits; one takes ", 2 * lease_memory(), " bytes of it"));
  }
  auto acceptor = CircuitAcceptor::listen(
      io_, {}, {settings_.relay_port, settings_.relay_port},
      [this](PendingCircuit pending) { on_setup(std::move(pending)); },
      [this](const std::string& peer, const absl::Status& reason) {
        ++setups_refused_;
        log_briefly(circuit_lines_, absl::StrCat("refused a connection from ", peer, ": ", reason.message()));
      });
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  cable_tests_ = std::make_unique<CableTests>(io_);
  acceptor_->seal_with(setup_key_);
  acceptor_->on_probe([this](const Frame& probe, UniqueFd socket, std::optional<CircuitSeal> seal) {
    on_probe(probe, std::move(socket), std::move(seal));
  });
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
  if (settings_.transport == Transport::kTcp) return;
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
  rdma_memory_->release_lost();
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
  answer_waiting();
  check_waiting_setups();
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
  return sessions_->connections() == 0 && waiting_setups_.empty() && dialing_ == 0 && loop_->circuits() == 0;
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

void NodeService::refuse(PendingCircuit pending, const absl::Status& reason) {
  ++setups_refused_;
  log_briefly(circuit_lines_, absl::StrCat("refused circuit ", describe_path(pending.setup()), ": ", reason.message()));
  std::move(pending).refuse(reason);
}

void NodeService::on_setup(PendingCircuit pending) {
  const absl::Status status = node_->paths().check_transit(pending.setup());
  if (status.ok()) return relay(std::move(pending));
  // A node that has just started, or a cable that was just plugged: its source may have heard of it before this node
  // has.
  if (!absl::IsNotFound(status) || waiting_setups_.size() == kMaxWaitingSetups) {
    return refuse(std::move(pending), status);
  }
  if (!has_room()) return refuse(std::move(pending), no_room());
  const auto budget = std::chrono::milliseconds(pending.setup().budget_ms);
  waiting_setups_.push_back({std::move(pending), clock_.now() + std::min<Duration>(budget / 2, kTransitLimit)});
  check_waiting_setups();
}

void NodeService::check_waiting_setups() {
  const Instant now = clock_.now();
  for (auto waiting = waiting_setups_.begin(); waiting != waiting_setups_.end();) {
    const absl::Status status = node_->paths().check_transit(waiting->pending.setup());
    if (absl::IsNotFound(status) && now < waiting->deadline) {
      ++waiting;
      continue;
    }
    PendingCircuit pending = std::move(waiting->pending);
    waiting = waiting_setups_.erase(waiting);
    status.ok() ? relay(std::move(pending)) : refuse(std::move(pending), status);
  }
  setup_deadline_.reset();
  // What changes in between, the topology tells.
  const auto first = std::min_element(waiting_setups_.begin(), waiting_setups_.end(),
                                      [](const auto& a, const auto& b) { return a.deadline < b.deadline; });
  if (first == waiting_setups_.end()) return;
  setup_deadline_ = clock_.call_at(first->deadline, [this] { check_waiting_setups(); });
}

void NodeService::relay(PendingCircuit pending) {
  if (!has_room()) return refuse(std::move(pending), no_room());
  CircuitSetup onward = pending.setup();
  ++onward.hop;
  // A tenth of the time is left for this node's answer to travel back.
  onward.budget_ms -= onward.budget_ms / 10;
  ++dialing_;
  auto shared = std::make_shared<PendingCircuit>(std::move(pending));
  dial_circuit(io_, std::move(onward), setup_key_, &transports_,
               [this, shared](absl::StatusOr<HopConnection> downstream) { on_dialed(shared, std::move(downstream)); });
}

void NodeService::on_dialed(const std::shared_ptr<PendingCircuit>& pending, absl::StatusOr<HopConnection> downstream) {
  --dialing_;
  if (!downstream.ok()) return refuse(std::move(*pending), downstream.status());
  const auto here = [&](const absl::Status& status, absl::string_view what) {
    return absl::Status(status.code(), absl::StrCat("node ", node_->identity().name, what, status.message()));
  };
  const CircuitSetup setup = pending->setup();
  absl::StatusOr<HopChoice> joined = transports_.join(setup, pending->own_address());
  if (!joined.ok()) {
    return refuse(std::move(*pending), told_of(to_text(accepting_end(setup, setup.hop)), joined.status()));
  }
  absl::StatusOr<std::unique_ptr<Slot>> floor = make_floor(joined->rdma.get(), downstream->rdma.get());
  if (!floor.ok()) return refuse(std::move(*pending), here(floor.status(), " can relay no more: "));

  const bool pipes = joined->rdma == nullptr && downstream->rdma == nullptr;
  const std::uint32_t chunk_bytes =
      pipes ? downstream->chunk_bytes : std::min(downstream->chunk_bytes, RdmaRelayMemory::kSlotBytes);
  SetupAnswer answer{chunk_bytes < setup.chunk_bytes ? chunk_bytes : 0, std::nullopt};
  if (joined->rdma != nullptr) answer.rdma = joined->rdma->queue_pair->endpoint();
  absl::StatusOr<UniqueFd> upstream = std::move(*pending).accept(answer);
  absl::Status added = upstream.status();
  if (added.ok()) {
    added = loop_->add(setup, {*std::move(upstream), std::move(joined->rdma), std::move(joined->why), chunk_bytes},
                       *std::move(downstream), *std::move(floor));
  }
  if (!added.ok()) log_(absl::StrCat("lost circuit ", describe_path(setup), ": ", text(added)));
}

absl::StatusOr<std::unique_ptr<Slot>> NodeService::make_floor(const RdmaHalf* upstream, const RdmaHalf* downstream) {
  if (upstream != nullptr || downstream != nullptr) return rdma_memory_->make_floor(upstream, downstream);
  absl::StatusOr<std::unique_ptr<PipeSlot>> floor = RelayLoop::make_floor();
  if (!floor.ok()) return absl::ResourceExhaustedError(floor.status().message());
  warn_of_small_pipes(**floor);
  return std::unique_ptr<Slot>(*std::move(floor));
}

bool NodeService::has_room() const {
  return loop_->circuits() + dialing_ + waiting_setups_.size() < relay_memory_.most_circuits;
}

absl::Status NodeService::no_room() const {
  const std::size_t in_setup = dialing_ + waiting_setups_.size();
  const std::string others = in_setup == 0 ? "" : absl::StrCat(" and ", in_setup, " that are being set up");
  return absl::ResourceExhaustedError(absl::StrCat("node ", node_->identity().name,
                                                   " has no room for another circuit: its relay memory of ",
                                                   find_setting("relay_memory")->show(settings_), " is taken by ",
                                                   loop_->circuits(), others, "; raise CABLEWAY_RELAY_MEMORY there"));
}

void NodeService::on_out_of_leases() {
  log_(absl::StrCat("all ", relay_memory_.leases, " leases of the relay memory of ",
                    find_setting("relay_memory")->show(settings_),
                    " are out: busy circuits take turns, and are slower; raise CABLEWAY_RELAY_MEMORY"));
}

void NodeService::on_out_of_rdma_leases() {
  const std::uint64_t leases = rdma_memory_->status().leases;
  log_(absl::StrCat("all ", leases,
                    " leases of registered memory are out: busy circuits over RDMA take turns, and are slower; ",
                    leases < RdmaRelayMemory::kMostLeases ? "raise CABLEWAY_RELAY_MEMORY" : "a node has no more"));
}

void NodeService::warn_of_small_pipes(const PipeSlot& floor) {
  const int bytes = floor.capacity();
  if (bytes >= static_cast<int>(kFloorPipeBytes) || std::exchange(warned_of_small_pipes_, true)) return;
  log_(absl::StrCat("pipes are down to ", bytes,
                    " bytes: this user has as many as fs.pipe-user-pages-soft allows, and"
                    " further circuits are relayed slower; run cablewayd as root, or raise that limit"));
}

void NodeService::on_closed(RelayLoop::Closed closed) {
  log_(absl::StrCat("circuit ", describe_path(closed.setup), " ended: ", closed.reason.message()));
  // Nobody at either end waits for more than the reason, and the relay's memory is for those that go on.
  close_lingering(io_, std::move(closed.upstream), Unsent::kForget);
  close_lingering(io_, std::move(closed.downstream), Unsent::kForget);
}

void NodeService::on_request(const SessionMessage& request, SessionServer::Answer answer) {
  if (const auto* path = std::get_if<PathRequest>(&request)) return find_path(*path, std::move(answer));
  if (const auto* wanted = std::get_if<ViewRequest>(&request)) return answer(view(wanted->name));
  if (const auto* test = std::get_if<CableTestRequest>(&request)) return test_cable(*test, answer);
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

void NodeService::test_cable(const CableTestRequest& request, const SessionServer::Answer& answer) {
  const auto refuse = [&](std::string reason) { answer(CableTestReply{std::move(reason)}); };
  if (!settings_.cable_test) return refuse("CABLEWAY_CABLE_TEST is false on this node");
  if (request.duration_ms < 1 || request.duration_ms > kMaxProbeMs) {
    return refuse(absl::StrCat("a test of ", request.duration_ms, " ms; expected 1 to ", kMaxProbeMs));
  }
  for (const PortFacts& port : node_->neighbours().ports()) {
    if (port.interface != request.interface) continue;
    for (const auto& [key, neighbour] : node_->neighbours().all()) {
      const routing::Advertisement* there = node_->flooding().database().find(key.node);
      if (key.port != port.id || neighbour.name != request.node || !neighbour.up || there == nullptr) continue;
      const CableTestPlan plan{absl::StrCat(port.interface, " to node ", neighbour.name),
                               routing::to_text(neighbour.addresses.ours),
                               routing::to_text(neighbour.addresses.theirs),
                               there->relay_port,
                               std::chrono::milliseconds(request.duration_ms),
                               request.both_ways,
                               setup_key_};
      return cable_tests_->run(plan, answer);
    }
  }
  refuse(absl::StrCat("no cable of port ", request.interface, " to a node ", request.node, " is up"));
}

// Only from the other end of a cable: nobody else is given this node's time.
void NodeService::on_probe(const Frame& probe, UniqueFd socket, std::optional<CircuitSeal> seal) {
  if (!settings_.cable_test) {
    return refuse_connection(io_, std::move(socket), "CABLEWAY_CABLE_TEST is false on that node", std::move(seal));
  }
  const absl::StatusOr<ConnectionEnds> ends = ends_of(socket.get());
  const auto is = [](routing::PortAddress address, const routing::PortAddress& wanted) {
    address.scope.clear();
    return address == wanted;
  };
  for (const auto& [key, neighbour] : node_->neighbours().all()) {
    if (!ends.ok() || !neighbour.up || !is(neighbour.addresses.ours, ends->local)) continue;
    if (is(neighbour.addresses.theirs, ends->remote)) {
      return cable_tests_->serve(probe, std::move(socket), std::move(seal));
    }
  }
  refuse_connection(io_, std::move(socket), "no cable with these addresses is up on that node", std::move(seal));
}

void NodeService::find_path(const PathRequest& request, SessionServer::Answer answer) {
  absl::StatusOr<std::vector<Hop>> hops = node_->paths().path_for_flow(request.node, request.ordinal);
  if (hops.ok()) return answer(PathReply{request.request, {}, *std::move(hops)});
  // A job may start while its nodes do, and a cable may be plugged again.
  waiting_paths_.push_back({request, std::move(answer), clock_.now() + kPathLimit});
  answer_waiting();
}

void NodeService::answer_waiting() {
  const Instant now = clock_.now();
  waiting_paths_.remove_if([&](WaitingPath& waiting) {
    absl::StatusOr<std::vector<Hop>> hops = node_->paths().path_for_flow(waiting.request.node, waiting.request.ordinal);
    if (!hops.ok() && now < waiting.deadline) return false;
    std::string error = hops.ok() ? "" : text(hops.status());
    waiting.answer(PathReply{waiting.request.request, std::move(error), std::move(hops).value_or(std::vector<Hop>())});
    return true;
  });
  path_deadline_.reset();
  if (waiting_paths_.empty()) return;
  // They came in the order of their deadlines.
  path_deadline_ = clock_.call_at(waiting_paths_.front().deadline, [this] { answer_waiting(); });
}

ViewReply NodeService::view(const std::string& name) {
  ViewReply reply = full_view(name);
  // A process ends a session that says more than that at once.
  constexpr std::size_t kMost = kMaxSessionMessageBytes - 64;
  if (reply.text.size() <= kMost) return reply;
  return ViewReply{absl::StrCat("the view \"", name, "\" has ", reply.text.size(), " bytes, at most ", kMost), {}};
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

ViewReply NodeService::full_view(const std::string& name) {
  if (name == "topology") return ViewReply{{}, routing::to_topology_file(node_->paths().topology())};
  if (name == "status") {
    RelayStatus status = loop_->status();
    status.setups_refused = setups_refused_;
    return ViewReply{{}, status_view(*node_, status, flows_.status(clock_.now()), sessions_->sessions(), problems())};
  }
  if (name == "ports")
    return ViewReply{{}, ports_view(*node_, settings_.transport, inventory_->rejected(), channel_.counters())};
  if (name == "events") return ViewReply{{}, events_view(*node_)};
  return ViewReply{absl::StrCat("no view \"", name, "\"; there are topology, status, ports and events"), {}};
}

}  // namespace cableway::linux_
