#include "sim/cable_fabric.h"

#include <algorithm>

namespace cableway::sim {
namespace {

// 10.x.y.z/30 with z = 1 or 2, one subnet per cable.
PortPrefix cable_address(std::uint32_t subnet, std::uint32_t end) {
  const std::uint32_t host = subnet * 4 + end + 1;
  PortPrefix prefix;
  prefix.address.bytes = {10, static_cast<std::uint8_t>(host >> 16), static_cast<std::uint8_t>(host >> 8),
                          static_cast<std::uint8_t>(host)};
  prefix.prefix_length = 30;
  return prefix;
}

}  // namespace

std::vector<PortFacts> FabricPorts::ports() const {
  std::vector<PortFacts> ports;
  for (const auto& [id, facts] : ports_) ports.push_back(facts);
  return ports;
}

void FabricPorts::send_to_all(PortId port, std::span<const std::byte> bytes) {
  fabric_.transmit(*this, port, nullptr, bytes);
}

void FabricPorts::send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) {
  fabric_.transmit(*this, port, &to, bytes);
}

CableFabric::NodeNumber CableFabric::add_node() {
  nodes_.push_back(std::unique_ptr<FabricPorts>(new FabricPorts(*this)));
  numbers_[nodes_.back().get()] = nodes_.size() - 1;
  off_.push_back(false);
  return nodes_.size() - 1;
}

PortId CableFabric::add_port(NodeNumber node, PortFacts facts) {
  facts.id = ++last_port_;
  nodes_[node]->ports_[facts.id] = std::move(facts);
  report_change(node);
  return last_port_;
}

void CableFabric::change_port(NodeNumber node, PortId port, const std::function<void(PortFacts&)>& change) {
  change(nodes_[node]->ports_.at(port));
  report_change(node);
}

void CableFabric::remove_port(NodeNumber node, PortId port) {
  nodes_[node]->ports_.erase(port);
  report_change(node);
}

void CableFabric::set_rejected(NodeNumber node, std::vector<RejectedPort> rejected) {
  nodes_[node]->rejected_ = std::move(rejected);
  report_change(node);
}

void CableFabric::report_change(NodeNumber node) {
  clock_.post_at(clock_.now(), [ports = nodes_[node].get()] { ports->changed_(); });
}

CableFabric::SegmentNumber CableFabric::join(const std::vector<End>& ports) {
  segments_.push_back(Segment{ports, true, false});
  for (const End& end : ports) segment_of_[end] = segments_.size() - 1;
  set_carrier(segments_.size() - 1, true);
  return segments_.size() - 1;
}

CableFabric::SegmentNumber CableFabric::add_cable(NodeNumber a, NodeNumber b) {
  const std::uint32_t subnet = subnets_++;
  std::vector<End> ends;
  for (const NodeNumber node : {a, b}) {
    PortFacts facts;
    facts.interface = "eth" + std::to_string(nodes_[node]->ports_.size());
    facts.mtu = 1500;
    facts.rate_mbps = 10'000;
    facts.addresses = {cable_address(subnet, ends.empty() ? 0 : 1)};
    ends.emplace_back(node, add_port(node, std::move(facts)));
  }
  return join(ends);
}

void CableFabric::set_carrier(SegmentNumber segment, bool carrier) {
  segments_[segment].carrier = carrier;
  for (const auto& [node, port] : segments_[segment].ends) {
    change_port(node, port, [&](PortFacts& facts) { facts.carrier = carrier; });
  }
}

void CableFabric::inject(NodeNumber node, PortId port, const routing::PortAddress& from, std::vector<std::byte> bytes) {
  clock_.post_at(clock_.now(), [this, node, port, from, bytes = std::move(bytes)] {
    nodes_[node]->receive_(ReceivedDatagram{port, from, bytes});
  });
}

void CableFabric::transmit(const FabricPorts& from, PortId port, const routing::PortAddress* to,
                           std::span<const std::byte> bytes) {
  const NodeNumber number = number_of(from);
  const auto on = segment_of_.find({number, port});
  if (on == segment_of_.end() || off_[number]) return;
  if (tap_) tap_(number, port, bytes);
  const Segment& segment = segments_[on->second];
  if (!segment.carrier || segment.silent || bytes.size() > kMaxDatagramBytes) return;
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  for (const End& end : segment.ends) {
    if (end == End{number, port}) continue;
    if (to != nullptr) {
      const auto& facts = nodes_[end.first]->ports_.find(end.second);
      const bool is_there = facts != nodes_[end.first]->ports_.end() &&
                            std::any_of(facts->second.addresses.begin(), facts->second.addresses.end(),
                                        [&](const PortPrefix& prefix) { return prefix.address.bytes == to->bytes; });
      if (!is_there) continue;
    }
    for (std::uint32_t copies = happens(weather_.doubled_per_mille) ? 2 : 1; copies > 0; --copies) {
      ++datagrams_;
      if (happens(weather_.lost_per_mille)) continue;
      const Duration jitter(
          weather_.jitter.count() == 0
              ? 0
              : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(weather_.jitter.count())));
      clock_.post_at(clock_.now() + weather_.delay + jitter,
                     [this, end, port, number, copy] { deliver(end, port, number, *copy); });
    }
  }
}

void CableFabric::deliver(const End& to, PortId from_port, NodeNumber from, const std::vector<std::byte>& bytes) {
  const auto sender = nodes_[from]->ports_.find(from_port);
  const auto receiver = nodes_[to.first]->ports_.find(to.second);
  const bool connected = sender != nodes_[from]->ports_.end() && receiver != nodes_[to.first]->ports_.end() &&
                         receiver->second.carrier && !off_[to.first] && !sender->second.addresses.empty();
  if (!connected) return;
  routing::PortAddress address = sender->second.addresses.front().address;
  if (address.is_ipv6_link_local()) address.scope = receiver->second.interface;
  nodes_[to.first]->receive_(ReceivedDatagram{to.second, address, bytes});
}

}  // namespace cableway::sim
