#include "sim/nodes/lying_node.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/flooding/adjacency_link.h"
#include "core/flooding/advertisement_codec.h"

namespace cableway::sim {

// One adjacency, and how much of what is said was sent over it.
class LyingNode::Link final : public AdjacencyLink::End {
 public:
  Link(LyingNode& node, NeighbourKey key, AdjacencyLink::Identity identity)
      : node_(node), key_(key), link_(identity, node.clock_, allowance_, *this) {}

  void wake() { link_.wake(); }
  bool has_sent_all() const { return sent_ == node_.said_.size() && link_.settled(); }
  std::size_t sent() const { return sent_; }
  void receive(std::span<const std::byte> body) { link_.receive(body).IgnoreError(); }

  bool next_message(LinkMessage& message) override {
    if (sent_ == node_.said_.size()) return false;
    message = node_.said_[sent_++];
    return true;
  }
  void send_segment(std::span<const std::byte> body) override { node_.neighbours_.send_segment(key_, body); }
  void receive_message(const LinkMessage& /*message*/) override {}

 private:
  LyingNode& node_;
  const NeighbourKey key_;
  std::size_t sent_ = 0;
  SegmentAllowance allowance_;
  AdjacencyLink link_;
};

LyingNode::LyingNode(NodeIdentity identity, Clock& clock, PortInventory& inventory, ControlChannel& channel,
                     const DatagramSeal& seal, HelloTiming timing)
    : clock_(clock),
      channel_(channel),
      neighbours_(
          std::move(identity), timing, clock, inventory, channel, seal, [this] { return ++random_; }, *this) {}

LyingNode::~LyingNode() {
  channel_.listen([](const ReceivedDatagram&) {});
}

void LyingNode::start() {
  neighbours_.start();
  tell({routing::kDefaultRelayPort, {}});
  say_own();
}

void LyingNode::stop() {
  neighbours_.leave();
  links_.clear();
  channel_.listen([](const ReceivedDatagram&) {});
}

void LyingNode::claim(std::vector<routing::AdvertisedPort> ports,
                      std::vector<routing::AdvertisedAdjacency> adjacencies) {
  claimed_ports_ = std::move(ports);
  claimed_ = std::move(adjacencies);
  say_own();
}

void LyingNode::claim_address(std::optional<routing::PortAddress> address) {
  claimed_address_ = std::move(address);
  say_own();
}

void LyingNode::say(const routing::Advertisement& advertisement) {
  said_.push_back(
      {LinkMessageKind::kAdvertisement, encode_advertisement({std::chrono::milliseconds(0), advertisement})});
  for (const auto& [key, link] : links_) link->wake();
}

void LyingNode::tell(const AnnouncedPorts& ports) {
  said_.push_back({LinkMessageKind::kToldPorts, encode_told_ports(ports)});
  for (const auto& [key, link] : links_) link->wake();
}

std::size_t LyingNode::neighbours_up() const {
  return links_.size();
}

bool LyingNode::has_said_all() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& each) { return each.second->has_sent_all(); });
}

std::size_t LyingNode::sent() const {
  std::size_t least = said();
  for (const auto& [key, link] : links_) least = std::min(least, link->sent());
  return least;
}

void LyingNode::adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) {
  links_[key] = std::make_unique<Link>(
      *this, key,
      AdjacencyLink::Identity{identity().id(), key.node, neighbour.our_adjacency, neighbour.their_adjacency});
  links_[key]->wake();
  say_own();
}

void LyingNode::adjacency_down(const NeighbourKey& key, const Neighbour& /*neighbour*/, EventCode /*code*/,
                               const std::string& /*reason*/) {
  links_.erase(key);
  say_own();
}

void LyingNode::segment(const NeighbourKey& key, std::span<const std::byte> body) {
  if (const auto link = links_.find(key); link != links_.end()) link->second->receive(body);
}

void LyingNode::say_own() {
  say(own());
}

routing::Advertisement LyingNode::own() const {
  routing::Advertisement own;
  own.origin = identity().id();
  own.version = {identity().boot_nonce, said_.size() + 1};
  own.name = identity().name;
  for (const PortFacts& port : neighbours_.ports()) {
    own.ports.push_back({.id = port.id, .interface = port.interface, .plug = "", .root = ""});
  }
  own.ports.insert(own.ports.end(), claimed_ports_.begin(), claimed_ports_.end());
  for (const auto& [key, neighbour] : neighbours_.all()) {
    if (!neighbour.up) continue;
    routing::AdvertisedAdjacency adjacency{key.port, key.node, key.neighbour_port, neighbour.addresses.ours};
    if (claimed_address_.has_value()) adjacency.address = *claimed_address_;
    adjacency.address.scope.clear();
    adjacency.neighbour_address = neighbour.addresses.theirs;
    adjacency.neighbour_address->scope.clear();
    own.adjacencies.push_back(std::move(adjacency));
  }
  own.adjacencies.insert(own.adjacencies.end(), claimed_.begin(), claimed_.end());
  std::sort(own.ports.begin(), own.ports.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::sort(own.adjacencies.begin(), own.adjacencies.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.port, a.neighbour, a.neighbour_port) < std::tuple(b.port, b.neighbour, b.neighbour_port);
  });
  return own;
}

}  // namespace cableway::sim
