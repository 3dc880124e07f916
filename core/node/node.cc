#include "core/node/node.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/node/crowd_text.h"
#include "core/node/neighbour_cable.h"
#include "core/node/plug_rate.h"
#include "routing/link_state/agreed_topology.h"

namespace cableway {
namespace {

// Computes routes once for each burst of changes.
constexpr std::chrono::milliseconds kNotifyAfter{10};
constexpr unsigned kSuspiciousDefences = 3;
// At most a twelfth of a core for routes and what follows from them, however large the topology is.
constexpr PacedWork::Limits kRoutePace{12, std::chrono::milliseconds(100), Duration(0), std::chrono::seconds(5)};
// At most an eighth for what follows from lists of TCP ports: each set-up that waits is checked again.
constexpr PacedWork::Limits kToldPace{8, std::chrono::milliseconds(20), Duration(0), std::chrono::milliseconds(500)};
constexpr char kDrainingText[] = "draining: no more paths lead through this node";
// How long a name conflict stays reported after it was last seen: longer than two nodes of one name take to supersede
// each other, so that the report does not flap.
constexpr std::chrono::seconds kNameProblemLasts{5};

// Cables that are reported as left out.
constexpr std::size_t kMaxLeftOut = 1024;

std::string cable_text(const Neighbour& neighbour) {
  return absl::StrCat("cable ", neighbour.our_interface, " to node ", neighbour.name, " (", neighbour.interface, ")");
}

// As advertised: 0 if it is not known yet, and at most what fits.
std::uint32_t latency_ns(const Neighbour& neighbour) {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(neighbour.latency.value_or(Duration(0)).count(), UINT32_MAX));
}

// A link of unknown rate is assumed to have the default rate, but the port carries no more than its root.
std::uint64_t advertised_rate_mbps(const PortFacts& port) {
  if (port.rate_mbps != 0) return port.rate_mbps;
  return port.root_mbps == 0 ? routing::kDefaultRateMbps : std::min(routing::kDefaultRateMbps, port.root_mbps);
}

// As advertised: the port is a link-local address's scope.
routing::PortAddress without_scope(routing::PortAddress address) {
  address.scope.clear();
  return address;
}

EventFields cable_fields(const std::string& cable, const Neighbour& neighbour) {
  return {{"cable", cable},
          {"port", neighbour.our_interface},
          {"neighbour", neighbour.name},
          {"neighbour_port", neighbour.interface}};
}

}  // namespace

Node::Node(const NodeOptions& options, Clock& clock, PortInventory& inventory, ControlChannel& channel,
           const DatagramSeal& seal, std::function<std::uint64_t()> random, Observer observer)
    : options_(options),
      clock_(clock),
      inventory_(inventory),
      observer_(std::move(observer)),
      events_(options.identity.boot_nonce, clock, options.wall_clock, observer_.event),
      neighbours_(options.identity, options.hello, clock, inventory, channel, seal, std::move(random), *this),
      flooding_(options.identity, clock, options.wall_clock, *this, options.advertisements),
      planner_(options.identity.name),
      transit_(neighbours_, flooding_.told_ports(), clock, options.hello.interval, draining_cables_),
      route_pace_(kRoutePace),
      told_pace_(kToldPace) {
  tell_ports({});
}

Node::~Node() = default;

void Node::start() {
  inventory_.watch([this] { update_ports(); });
  neighbours_.start();
  planner_.set_addresses(addresses());
  note_rejected_ports();
  if (options_.draining) events_.raise(EventCode::kDraining, kDrainingText);
  advertise();
}

void Node::leave() {
  events_.report_left_out();
  inventory_.watch([] {});
  neighbours_.leave();
  changed_.reset();
  told_.reset();
}

void Node::set_draining(bool draining) {
  if (std::exchange(options_.draining, draining) == draining) return;
  if (draining) {
    events_.raise(EventCode::kDraining, kDrainingText);
  } else {
    events_.raise(EventCode::kDrainingEnded, "no longer draining");
  }
  advertise();
}

std::string Node::name_of(const Neighbour& neighbour) const {
  return cable_name(options_.identity.name, neighbour);
}

absl::Status Node::drain_cable(const std::string& name) {
  const auto& all = neighbours_.all();
  const auto entry = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each.second.up && name_of(each.second) == name; });
  if (entry == all.end()) {
    return absl::NotFoundError(absl::StrCat("no cable ", name, " of node ", options_.identity.name, " is up"));
  }
  if (draining_cables_.size() == kMaxDrainingCables) {
    return absl::ResourceExhaustedError(absl::StrCat(kMaxDrainingCables, " cables drain already: undrain one of them"));
  }
  if (!draining_cables_.insert(name).second) return absl::OkStatus();
  events_.raise(EventCode::kCableDraining,
                absl::StrCat("draining: no more paths lead over ", cable_text(entry->second)),
                cable_fields(name, entry->second));
  advertise();
  return absl::OkStatus();
}

absl::Status Node::undrain_cable(const std::string& name) {
  if (draining_cables_.erase(name) == 0) {
    return absl::NotFoundError(absl::StrCat("cable ", name, " is not drained by node ", options_.identity.name));
  }
  events_.raise(EventCode::kCableDrainingEnded, absl::StrCat("cable ", name, " is no longer draining"),
                {{"cable", name}});
  advertise();
  return absl::OkStatus();
}

void Node::set_loss(const std::string& cable, unsigned percent) {
  if (percent == 0) {
    loss_percent_.erase(cable);
  } else {
    loss_percent_[cable] = static_cast<std::uint8_t>(std::min(percent, routing::kMaxLossPercent));
  }
  advertise();
}

void Node::update_ports() {
  neighbours_.update_ports();
  planner_.set_addresses(addresses());
  note_rejected_ports();
  advertise();
  observer_.ports_changed();
}

void Node::note_rejected_ports() {
  std::vector<Problem> found;
  for (const RejectedPort& rejected : inventory_.rejected()) {
    if (!rejected.requested) continue;
    Problem problem{EventCode::kPortUnusable, rejected.interface,
                    absl::StrCat(rejected.interface, " ", rejected.reason), clock_.now(), Instant()};
    const auto known = std::find_if(port_problems_.begin(), port_problems_.end(),
                                    [&](const Problem& each) { return each.text == problem.text; });
    if (known != port_problems_.end()) {
      problem.since = known->since;
    } else {
      events_.raise(problem.code, problem.text, {{"port", rejected.interface}, {"reason", rejected.reason}});
    }
    found.push_back(std::move(problem));
  }
  port_problems_ = std::move(found);
}

std::vector<Problem> Node::problems() const {
  std::vector<Problem> problems = neighbours_.problems();
  for (Problem problem : port_problems_) {
    problem.last_seen = clock_.now();
    problems.push_back(std::move(problem));
  }
  if (name_problem_.has_value() && clock_.now() - name_problem_->last_seen < kNameProblemLasts) {
    problems.push_back(*name_problem_);
  }
  for (Problem& problem : flooded_problems_.all()) {
    if (clock_.now() - problem.last_seen < Problems::kLasts) problems.push_back(std::move(problem));
  }
  if (topology_problem_.has_value()) problems.push_back(*topology_problem_);
  if (const auto& crowd = flooding_.crowd(); crowd.has_value()) {
    problems.push_back({EventCode::kTopologyCrowded, "", text_of(*crowd), crowd->since, clock_.now()});
  }
  return problems;
}

std::vector<std::string> Node::addresses() const {
  std::vector<std::string> addresses;
  for (const PortFacts& port : neighbours_.ports()) {
    for (const PortPrefix& prefix : port.addresses) addresses.push_back(routing::to_text(prefix.address));
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

Welcome Node::welcome() const {
  Welcome welcome;
  welcome.node = options_.identity.name;
  welcome.cluster = options_.identity.cluster;
  welcome.boot_nonce = identity().boot_nonce;
  welcome.rate_mbps = fastest_plug_mbps(neighbours_.ports());
  if (welcome.rate_mbps == 0) welcome.rate_mbps = routing::kDefaultRateMbps;
  welcome.addresses = addresses();
  return welcome;
}

void Node::advertise() {
  routing::Advertisement content;
  content.name = options_.identity.name;
  content.relay_port = options_.relay_port;
  content.draining = options_.draining;
  for (const PortFacts& port : neighbours_.ports()) {
    if (content.ports.size() == routing::kMaxAdvertisedPorts) break;
    const auto bounded = [](std::uint64_t rate) { return std::min(rate, routing::kMaxRateMbps); };
    content.ports.push_back({port.id, port.interface, port.plug, port.root, bounded(advertised_rate_mbps(port)),
                             bounded(port.link_mbps), bounded(port.root_mbps)});
  }
  for (const auto& [key, neighbour] : neighbours_.all()) {
    if (!neighbour.up || content.adjacencies.size() == routing::kMaxAdvertisedAdjacencies) continue;
    const std::string cable = name_of(neighbour);
    const auto loss = loss_percent_.find(cable);
    content.adjacencies.push_back({key.port, key.node, key.neighbour_port, without_scope(neighbour.addresses.ours),
                                   latency_ns(neighbour), draining_cables_.contains(cable),
                                   loss == loss_percent_.end() ? std::uint8_t{0} : loss->second,
                                   without_scope(neighbour.addresses.theirs)});
  }
  flooding_.originate(std::move(content));
}

void Node::adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) {
  events_.raise(EventCode::kCableUp, absl::StrCat(cable_text(neighbour), " is up"),
                cable_fields(name_of(neighbour), neighbour));
  observer_.cable_up(name_of(neighbour));
  flooding_.adjacency_up(key, neighbour);
  advertise();
}

void Node::cable_unfit(const NeighbourKey& /*key*/, const Neighbour& neighbour, const std::string& reason) {
  observer_.cable_unfit({neighbour.our_interface, reason, false, name_of(neighbour), false});
}

void Node::adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, EventCode code,
                          const std::string& reason) {
  EventFields fields = cable_fields(name_of(neighbour), neighbour);
  fields.push_back({"reason", reason});
  events_.raise(code, absl::StrCat(cable_text(neighbour), " is down: ", reason), std::move(fields));
  flooding_.adjacency_down(key, name_of(neighbour));
  advertise();
}

void Node::segment(const NeighbourKey& key, std::span<const std::byte> body) {
  flooding_.segment(key, body);
}

void Node::problem(const Problem& problem, EventFields fields) {
  events_.raise(problem.code, problem.text, std::move(fields));
}

void Node::send_segment(const NeighbourKey& key, std::span<const std::byte> body) {
  neighbours_.send_segment(key, body);
}

void Node::database_changed() {
  planner_is_old_ = true;
  notify_soon();
}

void Node::notify_soon() {
  if (changed_ != nullptr) return;
  changed_ = clock_.call_at(std::max(clock_.now() + kNotifyAfter, route_pace_.due()), [this] {
    changed_.reset();
    // Somebody has asked for paths meanwhile.
    if (clock_.now() < route_pace_.due()) return notify_soon();
    const PacedWork::Run run(route_pace_, clock_);
    observer_.topology_changed();
  });
}

void Node::defended(const NeighbourKey& from, const routing::AdvertisementVersion& version) {
  const std::string& name = options_.identity.name;
  note_flooded(from, EventCode::kNameDefended, version.boot_nonce,
               absl::StrCat("has an advertisement with this node's name that this node did not make: it is superseded. "
                            "It is of an earlier run of this node with its clock ahead, of another node called ",
                            name, ", or forged"));
  const Instant now = clock_.now();
  defences_ = now - defended_at_ < kNameProblemLasts ? defences_ + 1 : 1;
  defended_at_ = now;
  if (defences_ >= kSuspiciousDefences) note_namesake();
}

void Node::crowded(const Crowd& crowd) {
  events_.raise(EventCode::kTopologyCrowded, text_of(crowd),
                {{"node", crowd.chain.empty() ? "" : crowd.chain.back()}, {"left_out", absl::StrCat(crowd.left_out)}});
}

std::string Node::text_of(const Crowd& crowd) const {
  const auto& ports = neighbours_.ports();
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& each) { return each.id == crowd.port; });
  return crowd_text(crowd, port == ports.end() ? "" : port->interface);
}

void Node::disbelieved(const NeighbourKey& from, const routing::Advertisement& advertisement) {
  note_flooded(from, EventCode::kAdvertisementRefused, advertisement.origin.value,
               absl::StrCat("has sent an advertisement of node ", advertisement.name,
                            " with a boot nonce of more than ", Flooding::kAhead.count(),
                            " years ahead of this host's clock: it is refused. Correct the "
                            "clock of that node's host, or of this one"));
}

// `text` begins with what the neighbour has or does.
void Node::note_flooded(const NeighbourKey& from, EventCode code, std::uint64_t about, const std::string& text) {
  const auto neighbour = neighbours_.all().find(from);
  if (neighbour == neighbours_.all().end()) return;
  flooded_problems_.expire(clock_.now());
  const std::string& port = neighbour->second.our_interface;
  const std::string& name = neighbour->second.name;
  const std::optional<Problem> problem = flooded_problems_.note(
      {from.port, code, about}, port, absl::StrCat("node ", name, " on port ", port, " ", text), clock_.now(), name);
  if (!problem.has_value()) return;
  events_.raise(code, problem->text, {{"port", port}, {"neighbour", name}});
}

void Node::note_namesake() {
  const Instant now = clock_.now();
  if (!name_problem_.has_value() || now - name_problem_->last_seen >= kNameProblemLasts) {
    name_problem_ = Problem{EventCode::kNameTaken, "",
                            absl::StrCat("another node of cluster ", options_.identity.cluster, " seems to be called ",
                                         options_.identity.name, " too: set CABLEWAY_NODE on one of them"),
                            now, now};
    events_.raise(name_problem_->code, name_problem_->text, {{"node", options_.identity.name}});
  }
  name_problem_->last_seen = now;
}

absl::Status Node::check_transit(const CircuitSetup& setup) {
  return transit_.check(setup, paths(), options_.relay_port);
}

void Node::ports_told() {
  if (told_ != nullptr) return;
  if (clock_.now() >= told_pace_.due()) return pass_on_ports_told();
  told_ = clock_.call_at(told_pace_.due(), [this] {
    told_.reset();
    pass_on_ports_told();
  });
}

void Node::pass_on_ports_told() {
  const PacedWork::Run run(told_pace_, clock_);
  observer_.ports_told();
}

const PathPlanner& Node::paths() {
  if (!planner_is_old_ || clock_.now() < route_pace_.due()) return planner_;
  planner_is_old_ = false;
  const PacedWork::Run run(route_pace_, clock_);
  absl::StatusOr<routing::AgreedTopology> agreed =
      routing::agreed_topology(options_.identity.cluster, flooding_.database());
  absl::Status updated = agreed.status();
  if (agreed.ok()) {
    note_left_out(std::move(agreed->left_out));
    updated = planner_.update(std::make_shared<const routing::Topology>(std::move(agreed->topology)));
  }
  // The last good topology stays in use.
  note_refused_topology(updated);
  return planner_;
}

void Node::note_refused_topology(const absl::Status& updated) {
  if (updated.ok()) return topology_problem_.reset();
  const std::string reason(updated.message());
  std::string text = absl::StrCat("the nodes' advertisements make no valid topology: ", reason);
  const Instant now = clock_.now();
  if (topology_problem_.has_value() && topology_problem_->text == text) {
    topology_problem_->last_seen = now;
    return;
  }
  topology_problem_ = Problem{EventCode::kTopologyRefused, "", std::move(text), now, now};
  events_.raise(topology_problem_->code, topology_problem_->text, {{"reason", reason}});
}

std::optional<CableEnds> Node::find_cable(const ProbedCable& cable) const {
  for (const PortFacts& port : neighbours_.ports()) {
    if (port.interface != cable.interface) continue;
    for (const auto& [key, other] : neighbours_.all()) {
      const routing::Advertisement* there = flooding_.database().find(key.node);
      if (key.port != port.id || !other.up || there == nullptr) continue;
      if (other.name != cable.node || other.interface != cable.other_interface) continue;
      return CableEnds{routing::to_text(other.addresses.ours), routing::to_text(other.addresses.theirs),
                       there->relay_port};
    }
  }
  return std::nullopt;
}

ShareHolder Node::neighbour_at(const std::string& own_address, const std::string& other_address) const {
  absl::StatusOr<routing::PortAddress> own = routing::parse_port_address(own_address);
  absl::StatusOr<routing::PortAddress> other = routing::parse_port_address(other_address);
  if (!own.ok() || !other.ok()) return {};
  const auto is = [](const routing::PortAddress& address, const routing::PortAddress& wanted) {
    return without_scope(address) == without_scope(wanted);
  };
  for (const auto& [key, neighbour] : neighbours_.all()) {
    const CableAddresses& cable = neighbour.addresses;
    if (neighbour.up && is(cable.ours, *own) && is(cable.theirs, *other))
      return {neighbour.our_interface, neighbour.name};
  }
  return {};
}

std::set<ShareHolder> Node::share_holders() const {
  std::set<ShareHolder> holders;
  for (const auto& [key, neighbour] : neighbours_.all()) {
    if (neighbour.up) holders.insert({neighbour.our_interface, neighbour.name});
  }
  return holders;
}

// Peers can invent many such cables.
void Node::note_left_out(std::vector<std::string> left_out) {
  std::sort(left_out.begin(), left_out.end());
  if (left_out.size() > kMaxLeftOut) left_out.resize(kMaxLeftOut);
  for (const std::string& reason : left_out) {
    if (std::binary_search(left_out_.begin(), left_out_.end(), reason)) continue;
    events_.raise(EventCode::kCableLeftOut, reason, {{"reason", reason}});
  }
  left_out_ = std::move(left_out);
}

}  // namespace cableway
