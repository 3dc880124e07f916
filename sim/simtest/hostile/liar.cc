#include "sim/simtest/hostile/liar.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/discovery/control_datagram.h"
#include "core/discovery/port_hello.h"
#include "sim/nodes/invented_crowd.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kLiarNumbers = 0x6c69;  // of its own, so that nothing else in the world depends on it
constexpr char kCluster[] = "simtest";
// Greater than those of the world's nodes.
constexpr std::uint64_t kBootNonce = 1'000'000;
constexpr std::size_t kCrowd = 40;
constexpr std::uint64_t kNamesOfNobody = 200;
constexpr std::uint32_t kFirstClaimedPort = 1000;
constexpr std::size_t kMostBabble = 200;
constexpr std::uint64_t kMostTold = 50;

}  // namespace

Liar::Liar(const SimtestPlan& plan, const Fault& fault, NodeWorld& nodes)
    : plan_(plan),
      fault_(fault),
      lies_(fault.amount),
      nodes_(nodes),
      random_(SimtestRandom::mix(plan.seed ^ fault.amount) ^ kLiarNumbers),
      number_(nodes.fabric().add_node()),
      name_(SimtestGround::name(number_)) {
  const std::size_t node = fault.target % plan.shape.nodes;
  add_cable(node);
  if (lies_.has(Lies::kSecondCable) && plan.shape.nodes > 1)
    add_cable((node + random_.between(std::uint64_t{1}, plan.shape.nodes - 1)) % plan.shape.nodes);
  victims_ = {any_node(), any_node()};
  if (const std::optional<std::size_t> namesake = namesake_of(plan, fault); namesake.has_value()) {
    name_ = SimtestGround::name(*namesake);
    named_.insert(*namesake);
  }
}

void Liar::add_cable(std::size_t node) {
  CableFabric& fabric = nodes_.fabric();
  const CableFabric::SegmentNumber segment = fabric.add_cable(node, number_);
  cables_.push_back({node, fabric.ends_of(segment)[0].second, segment});
}

void Liar::begin() {
  HelloTiming timing;
  timing.interval = plan_.hello;
  timing.hold = plan_.hold * (random_.happens(500) ? 1 : random_.between(std::uint64_t{2}, 100));
  node_.emplace(NodeIdentity{kCluster, name_, kBootNonce + number_}, nodes_.clock(), nodes_.fabric().ports_of(number_),
                nodes_.seal_of(cables_.front().node), timing);
  node_->start();
  lie();
}

void Liar::end() {
  next_.reset();
  if (!node_.has_value()) return;
  if (random_.happens(500)) {
    node_->stop();
  } else {
    for (const Cable& cable : cables_) nodes_.fabric().set_carrier(cable.segment, false);
  }
  node_.reset();
}

void Liar::lie() {
  std::vector<Lies::Kind> kinds;
  for (const Lies::Kind kind : {Lies::kForge, Lies::kClaim, Lies::kInvent, Lies::kGreet}) {
    if (lies_.has(kind)) kinds.push_back(kind);
  }
  if (!kinds.empty()) lie_once(random_.one_of(kinds));
  next_ = nodes_.clock().call_after(lies_.every(), [this] { lie(); });
}

void Liar::lie_once(Lies::Kind kind) {
  switch (kind) {
    case Lies::kForge:
      return forge();
    case Lies::kClaim:
      return claim();
    case Lies::kInvent:
      return invent();
    case Lies::kGreet:
      return random_.happens(800) ? greet() : babble();
    case Lies::kNamesake:
    case Lies::kSecondCable:
      return;
  }
}

// A victim's present advertisement, with another version, some of it left out, addresses of either victim, and cables
// that drain or lose packets.
void Liar::forge() {
  const std::size_t holder = cables_.front().node;
  const std::size_t victim = random_.one_of(victims_);
  if (!nodes_.runs(holder)) return;
  const routing::Advertisement* present =
      nodes_.node(holder).flooding().database().find(routing::node_id(kCluster, SimtestGround::name(victim)));
  if (present == nullptr) return;
  routing::Advertisement forged = *present;
  forged.version = false_version(present->version);
  if (random_.happens(400)) forged.adjacencies.clear();
  if (!forged.adjacencies.empty() && random_.happens(500)) {
    forged.adjacencies.erase(forged.adjacencies.begin() +
                             static_cast<std::ptrdiff_t>(random_.below(forged.adjacencies.size())));
  }
  for (routing::AdvertisedAdjacency& adjacency : forged.adjacencies) {
    if (random_.happens(100)) adjacency.address = address_of(random_.one_of(victims_)).address;
    if (random_.happens(100)) adjacency.draining = !adjacency.draining;
    if (random_.happens(100)) adjacency.loss_percent = static_cast<std::uint8_t>(random_.below(101));
  }
  forged.draining = random_.happens(200);
  if (random_.happens(100)) ++forged.relay_port;
  named_.insert(victims_.begin(), victims_.end());
  node_->say(forged);
}

routing::AdvertisementVersion Liar::false_version(const routing::AdvertisementVersion& present) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  routing::AdvertisementVersion version = present;
  switch (random_.below(7)) {
    case 0:
      version.sequence = std::min(present.sequence + random_.between(std::uint64_t{1}, 1000), routing::kMaxSequence);
      break;
    case 1:
      version.sequence = routing::kMaxSequence - random_.below(3);
      break;
    case 2:
      version.boot_nonce += random_.between(std::uint64_t{1}, 1000);
      break;
    case 3:
      version.boot_nonce = kAll - random_.below(3);
      break;
    case 4:
      version.boot_nonce = random_.below(std::uint64_t{1} << random_.between(std::uint64_t{1}, 63));
      break;
    case 5:
      version.sequence = random_.between(std::uint64_t{1}, present.sequence);
      break;
    default:  // the same, with other content
      break;
  }
  return version;
}

// Cables of its own to nodes that are not its neighbours, from an address of another node.
void Liar::claim() {
  std::vector<routing::AdvertisedPort> ports;
  std::vector<routing::AdvertisedAdjacency> adjacencies;
  for (std::uint64_t i = random_.between(std::uint64_t{1}, 4); i > 0; --i) {
    const std::size_t node = any_node();
    const auto port = static_cast<std::uint32_t>(kFirstClaimedPort + i);
    ports.push_back({.id = port, .interface = absl::StrCat("lie", i), .plug = "", .root = ""});
    adjacencies.push_back({port, routing::node_id(kCluster, SimtestGround::name(node)),
                           static_cast<PortId>(random_.between(std::uint64_t{1}, 100)),
                           address_of(any_node()).address});
  }
  node_->claim(std::move(ports), std::move(adjacencies));
  if (random_.happens(500)) claim_address();
  if (random_.happens(300)) tell();
}

// Announces TCP ports at which nothing listens: a relay's, those of applications, and any.
void Liar::tell() {
  AnnouncedPorts ports;
  if (random_.happens(800)) ports.relay = static_cast<std::uint16_t>(random_.between(std::uint64_t{1}, 65535));
  std::set<std::uint16_t> processes;
  if (random_.happens(500)) processes.insert(kApplicationPort);
  for (std::uint64_t i = random_.below(kMostTold); i > 0; --i) {
    processes.insert(static_cast<std::uint16_t>(random_.between(std::uint64_t{1}, 65535)));
  }
  ports.processes.assign(processes.begin(), processes.end());
  node_->tell(ports);
}

// At its true adjacencies, that of another node or of the neighbour there, which must lose no cable by it; or its own
// again.
void Liar::claim_address() {
  if (random_.happens(300)) return node_->claim_address(std::nullopt);
  const std::size_t owner = random_.happens(500) ? cables_.front().node : any_node();
  node_->claim_address(address_of(owner).address);
}

// Nodes with cables between them, some of which hang on this party; each time a later version of the same ones.
void Liar::invent() {
  CrowdShape shape;
  shape.nodes = kCrowd;
  shape.cables_each = random_.between(std::uint64_t{1}, 3);
  shape.cables_of_head = random_.below(9);
  const InventedCrowd crowd = invented_crowd(kCluster, name_, absl::StrCat("x", number_, "-"), shape, ++said_);
  if (shape.cables_of_head > 0) node_->claim(crowd.head_ports, crowd.head_adjacencies);
  for (const routing::Advertisement& node : crowd.nodes) node_->say(node);
}

void Liar::greet() {
  PortHello hello;
  hello.node = any_name();
  hello.interface = "eth0";
  hello.mtu = 1500;
  hello.hold_ms = static_cast<std::uint32_t>(
      random_.between(std::uint64_t{1}, std::uint64_t{1} << random_.between(std::uint64_t{1}, 31)));
  hello.leaving = random_.happens(200);
  if (random_.happens(800)) hello.addresses.push_back({address_of(any_node()), false});
  for (std::uint64_t i = random_.below(4); i > 0; --i) {
    HeardNeighbour heard;
    heard.node = routing::node_id(kCluster, SimtestGround::name(any_node()));
    heard.port = static_cast<PortId>(random_.between(std::uint64_t{1}, 100));
    heard.boot_nonce = random_.between(std::uint64_t{1000}, 1100);
    heard.your_adjacency = random_.next();
    heard.my_adjacency = random_.next() | 1;
    heard.uses = random_.happens(500);
    hello.heard.push_back(heard);
  }
  send(ControlKind::kHello, hello.node, encode_port_hello(hello));
}

// A segment of an adjacency, with random content.
void Liar::babble() {
  std::vector<std::byte> body(random_.between(std::uint64_t{1}, kMostBabble));
  for (std::byte& byte : body) byte = static_cast<std::byte>(random_.below(256));
  send(ControlKind::kSegment, any_name(), body);
}

void Liar::send(ControlKind kind, const std::string& name, std::span<const std::byte> body) {
  const Cable& cable = cables_[random_.below(cables_.size())];
  if (nodes_.fabric().is_off(cable.node) || !nodes_.fabric().has_carrier(cable.segment)) return;
  const std::uint64_t counter = random_.below(std::uint64_t{1} << random_.between(std::uint64_t{1}, 63)) + 1;
  const std::uint64_t nonce = random_.between(std::uint64_t{1}, 2 * kBootNonce);
  const auto port = static_cast<PortId>(random_.between(std::uint64_t{1}, 100));
  std::vector<std::byte> bytes = encode_control_datagram(
      {kind, routing::cluster_id(kCluster), routing::node_id(kCluster, name), nonce, counter, port, body},
      nodes_.seal_of(cable.node));
  nodes_.fabric().inject(cable.node, cable.port, address_of(number_).address, std::move(bytes));
}

std::string Liar::any_name() {
  if (random_.happens(500)) return SimtestGround::name(any_node());
  return absl::StrCat("y", random_.below(kNamesOfNobody));
}

PortPrefix Liar::address_of(std::size_t node) {
  const std::vector<PortFacts> ports = nodes_.fabric().ports_of(node).ports();
  return ports.empty() ? address_of(number_) : random_.one_of(ports).addresses.front();
}

}  // namespace cableway::sim
