#include "core/node/node.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/link_state/agreed_topology.h"

namespace cableway {
namespace {

// Changes come in bursts; routes are computed once for each.
constexpr std::chrono::milliseconds kTellAfter{10};
// Two nodes of one name would outlive each other without end.
constexpr std::chrono::milliseconds kNewLifeAfter{500};
constexpr std::uint64_t kSuspiciousLives = 4;
constexpr std::chrono::seconds kNameProblemLasts{5};  // after it was seen last; by then the next life would be over

std::string cable_text(const NeighbourKey& key, const Neighbour& neighbour, const std::vector<PortFacts>& ports) {
  const auto port =
      std::find_if(ports.begin(), ports.end(), [&](const PortFacts& each) { return each.id == key.port; });
  return absl::StrCat("cable ", port == ports.end() ? absl::StrCat("port ", key.port) : port->interface, " to node ",
                      neighbour.name, " (", neighbour.interface, ")");
}

}  // namespace

Node::Node(const NodeOptions& options, Clock& clock, PortInventory& inventory, ControlChannel& channel,
           const DatagramSeal& seal, std::function<std::uint64_t()> random, Observer observer)
    : options_(options),
      clock_(clock),
      inventory_(inventory),
      observer_(std::move(observer)),
      events_(options.identity.boot_nonce),
      neighbours_(options.identity, options.hello, clock, inventory, channel, seal, std::move(random), *this),
      flooding_(options.identity, clock, *this, options.advertisements),
      planner_(options.identity.name) {}

Node::~Node() = default;

void Node::start() {
  inventory_.watch([this] { update_ports(); });
  neighbours_.start();
  planner_.set_addresses(addresses());
  note_rejected_ports();
  advertise();
}

void Node::leave() {
  inventory_.watch([] {});
  neighbours_.leave();
  changed_.reset();
  outlived_.reset();
}

void Node::set_draining(bool draining) {
  if (std::exchange(options_.draining, draining) == draining) return;
  tell(draining ? "draining: no more paths lead through this node" : "no longer draining");
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
    if (!rejected.asked_for) continue;
    Problem problem{rejected.interface, absl::StrCat(rejected.interface, " ", rejected.reason), clock_.now(), {}};
    const auto known = std::find_if(port_problems_.begin(), port_problems_.end(),
                                    [&](const Problem& each) { return each.text == problem.text; });
    if (known != port_problems_.end()) {
      problem.since = known->since;
    } else {
      tell(problem.text);
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
  for (const PortFacts& port : neighbours_.ports()) welcome.rate_mbps = std::max(welcome.rate_mbps, port.rate_mbps);
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
    const std::uint64_t rate = port.rate_mbps == 0 ? routing::kDefaultRateMbps : port.rate_mbps;
    content.ports.push_back({port.id, port.interface, port.plug, std::min(rate, routing::kMaxRateMbps)});
  }
  for (const auto& [key, neighbour] : neighbours_.all()) {
    if (!neighbour.up || content.adjacencies.size() == routing::kMaxAdvertisedAdjacencies) continue;
    routing::PortAddress address = neighbour.addresses.ours;
    address.scope.clear();
    content.adjacencies.push_back({key.port, key.node, key.neighbour_port, address});
  }
  flooding_.originate(std::move(content));
}

void Node::adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) {
  tell(absl::StrCat(cable_text(key, neighbour, neighbours_.ports()), " is up"));
  flooding_.adjacency_up(key, neighbour);
  advertise();
}

void Node::adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, const std::string& reason) {
  tell(absl::StrCat(cable_text(key, neighbour, neighbours_.ports()), " is down: ", reason));
  flooding_.adjacency_down(key);
  advertise();
}

void Node::segment(const NeighbourKey& key, std::span<const std::byte> body) {
  flooding_.segment(key, body);
}

void Node::problem(const Problem& problem) {
  tell(problem.text);
}

void Node::send_segment(const NeighbourKey& key, std::span<const std::byte> body) {
  neighbours_.send_segment(key, body);
}

void Node::database_changed() {
  planner_is_old_ = true;
  if (changed_ != nullptr) return;
  changed_ = clock_.call_after(kTellAfter, [this] {
    changed_.reset();
    observer_.topology_changed();
  });
}

// Not at once: this may be called from within what a new life ends.
void Node::outlived(std::uint64_t boot_nonce) {
  if (outlived_ != nullptr) return;
  note_outlived();
  outlived_ = clock_.call_after(lives_ < kSuspiciousLives ? Duration(0) : Duration(kNewLifeAfter), [this, boot_nonce] {
    outlived_.reset();
    neighbours_.restart(boot_nonce + 1);
    flooding_.restart(boot_nonce + 1);
  });
}

void Node::note_outlived() {
  const Instant now = clock_.now();
  lives_ = now - last_outlived_ < kNameProblemLasts ? lives_ + 1 : 2;
  last_outlived_ = now;
  if (lives_ < kSuspiciousLives) return;
  if (!name_problem_.has_value() || now - name_problem_->last_seen >= kNameProblemLasts) {
    name_problem_ = Problem{"",
                            absl::StrCat("another node of cluster ", options_.identity.cluster, " seems to be called ",
                                         options_.identity.name, " too: set CABLEWAY_NODE on one of them"),
                            now, now};
    tell(name_problem_->text);
  }
  name_problem_->last_seen = now;
}

const PathPlanner& Node::paths() {
  if (!std::exchange(planner_is_old_, false)) return planner_;
  absl::StatusOr<routing::AgreedTopology> agreed =
      routing::agreed_topology(options_.identity.cluster, flooding_.database());
  absl::Status updated = agreed.status();
  if (agreed.ok()) {
    left_out_ = std::move(agreed->left_out);
    updated = planner_.update(std::make_shared<const routing::Topology>(std::move(agreed->topology)));
  }
  // The last good topology stays in use.
  if (!updated.ok()) tell(absl::StrCat("no topology can be made of what the nodes advertise: ", updated.message()));
  return planner_;
}

void Node::tell(std::string text) {
  observer_.event(events_.add(clock_.now(), std::move(text)));
}

}  // namespace cableway
