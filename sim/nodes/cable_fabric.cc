#include "sim/nodes/cable_fabric.h"

#include <algorithm>
#include <array>

namespace cableway::sim {
namespace {

constexpr std::size_t kHeaderBytes = 28;  // of UDP over IPv4; those of IPv6 hardly matter
constexpr std::array<std::byte, 20> kKernelPacket{};

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

void FabricPorts::send_to_family(PortId port, bool is_ipv6, std::span<const std::byte> bytes) {
  if (ports_.at(port).addresses.front().address.is_ipv6 == is_ipv6) send_to_all(port, bytes);
}

void FabricPorts::send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) {
  fabric_.transmit(*this, port, &to, bytes);
}

void FabricPorts::send_pulse(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) {
  fabric_.transmit(*this, port, &to, bytes, CableFabric::Packet::kPulse);
}

void FabricPorts::ask_kernel(PortId port, const routing::PortAddress& to) {
  fabric_.transmit(*this, port, &to, kKernelPacket, CableFabric::Packet::kQuestion);
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

void CableFabric::set_rejected(NodeNumber node, std::vector<RejectedPort> rejected) {
  nodes_[node]->rejected_ = std::move(rejected);
  report_change(node);
}

void CableFabric::report_change(NodeNumber node) {
  clock_.post_at(clock_.now(), [ports = nodes_[node].get()] { ports->changed_(); });
}

CableFabric::SegmentNumber CableFabric::join(const std::vector<End>& ports) {
  Segment segment;
  segment.ends = ports;
  segment.mute.assign(ports.size(), false);
  segment.largest_packet.assign(ports.size(), SIZE_MAX);
  segments_.push_back(std::move(segment));
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
    facts.rate_mbps = facts.link_mbps = 10'000;
    facts.addresses = {cable_address(subnet, ends.empty() ? 0 : 1)};
    ends.emplace_back(node, add_port(node, std::move(facts)));
  }
  return join(ends);
}

void CableFabric::share_wire(SegmentNumber one, SegmentNumber other) {
  segments_[one].shares_wire_with = other;
  segments_[other].shares_wire_with = one;
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

void CableFabric::set_silent(SegmentNumber segment, bool silent) {
  segments_[segment].mute.assign(segments_[segment].ends.size(), silent);
}

void CableFabric::set_weather(SegmentNumber segment, const std::optional<Weather>& weather) {
  segments_[segment].weather = weather;
  segments_[segment].in_burst = false;
}

bool CableFabric::carries(SegmentNumber segment, std::size_t end) const {
  return segments_[segment].carrier && !segments_[segment].mute[end];
}

bool CableFabric::carries_full_size(SegmentNumber segment, std::size_t end) const {
  const auto& [node, port] = segments_[segment].ends[end];
  return carries(segment, end) && nodes_[node]->ports_.at(port).mtu <= segments_[segment].largest_packet[end];
}

bool CableFabric::has_address(const End& end, const routing::PortAddress& address) const {
  const auto facts = nodes_[end.first]->ports_.find(end.second);
  return facts != nodes_[end.first]->ports_.end() &&
         std::any_of(facts->second.addresses.begin(), facts->second.addresses.end(),
                     [&](const PortPrefix& prefix) { return prefix.address.bytes == address.bytes; });
}

void CableFabric::transmit(const FabricPorts& from, PortId port, const routing::PortAddress* to,
                           std::span<const std::byte> bytes, Packet kind) {
  const End sender{number_of(from), port};
  const auto on = segment_of_.find(sender);
  if (on == segment_of_.end() || off_[sender.first]) return;
  if (kind == Packet::kControl) {
    for (const Tap& tap : taps_) tap(sender.first, port, bytes);
  }
  const Segment& segment = segments_[on->second];
  const auto place =
      static_cast<std::size_t>(std::find(segment.ends.begin(), segment.ends.end(), sender) - segment.ends.begin());
  if (!carries(on->second, place) || bytes.size() > kMaxDatagramBytes) return;
  if (bytes.size() + kHeaderBytes > segment.largest_packet[place] && !carries_full_size(on->second, place)) return;
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  spread(on->second, sender, to, copy, kind);
  if (segment.shares_wire_with) spread(*segment.shares_wire_with, sender, to, copy, kind);
}

// Delivers to the segment's other ends.
void CableFabric::spread(SegmentNumber number, const End& sender, const routing::PortAddress* to,
                         const std::shared_ptr<const std::vector<std::byte>>& copy, Packet kind) {
  Segment& segment = segments_[number];
  const Weather& weather = segment.weather.has_value() ? *segment.weather : weather_;
  for (const End& end : segment.ends) {
    if (end == sender || (to != nullptr && !has_address(end, *to))) continue;
    for (std::uint32_t copies = happens(weather.doubled_per_mille) ? 2 : 1; copies > 0; --copies) {
      ++(kind == Packet::kControl ? datagrams_ : pulses_);
      if (is_lost(segment, weather)) continue;
      launch(segment, Way{sender.first, sender.second, end.first, end.second}, copy, kind);
    }
  }
}

bool CableFabric::is_lost(Segment& segment, const Weather& weather) {
  if (happens(weather.lost_per_mille) || segment.in_flight >= weather.queue) return true;
  if (weather.burst_begins_per_mille == 0) return false;
  segment.in_burst =
      segment.in_burst ? !happens(weather.burst_ends_per_mille) : happens(weather.burst_begins_per_mille);
  return segment.in_burst;
}

void CableFabric::launch(Segment& segment, const Way& way, const std::shared_ptr<const std::vector<std::byte>>& bytes,
                         Packet kind) {
  const Weather& weather = segment.weather.has_value() ? *segment.weather : weather_;
  const Duration jitter(
      weather.jitter.count() == 0
          ? 0
          : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(weather.jitter.count())));
  const bool spoil = weather.corrupted_per_mille > 0 && happens(weather.corrupted_per_mille);
  ++segment.in_flight;
  const auto number = static_cast<SegmentNumber>(&segment - segments_.data());
  const auto more = more_delay_.find({way.from, way.from_port});
  const Duration delay = weather.delay + jitter + (more == more_delay_.end() ? Duration(0) : more->second);
  clock_.post_at(clock_.now() + delay, [this, way, number, kind, arriving = spoil ? corrupted(*bytes) : bytes] {
    Segment& on = segments_[number];
    --on.in_flight;
    if (kind == Packet::kControl && on.interceptor && on.interceptor(way, *arriving)) return;
    deliver(way, *arriving, kind);
  });
}

std::shared_ptr<const std::vector<std::byte>> CableFabric::corrupted(const std::vector<std::byte>& bytes) {
  auto changed = std::make_shared<std::vector<std::byte>>(bytes);
  const std::size_t place = random_() % changed->size();
  (*changed)[place] ^= static_cast<std::byte>(1 + random_() % 255);
  return changed;
}

void CableFabric::deliver(const Way& way, const std::vector<std::byte>& bytes, Packet kind) {
  const auto sender = nodes_[way.from]->ports_.find(way.from_port);
  const auto receiver = nodes_[way.to]->ports_.find(way.to_port);
  const bool connected = sender != nodes_[way.from]->ports_.end() && receiver != nodes_[way.to]->ports_.end() &&
                         receiver->second.carrier && !off_[way.to] && !sender->second.addresses.empty();
  if (!connected) return;
  routing::PortAddress address = sender->second.addresses.front().address;
  if (address.is_ipv6_link_local()) address.scope = receiver->second.interface;
  ++nodes_[way.to]->packets_[way.to_port];
  if (kind != Packet::kControl) return deliver_to_kernel(way, address, bytes, kind);
  for (const ArrivalTap& tap : arrival_taps_) tap(way, bytes);
  nodes_[way.to]->receive_(ReceivedDatagram{way.to_port, address, bytes});
}

// The kernel's part on a host whose node may stand still, or not run.
void CableFabric::deliver_to_kernel(const Way& way, const routing::PortAddress& from,
                                    const std::vector<std::byte>& bytes, Packet kind) {
  const FabricPorts& ports = *nodes_[way.to];
  PulseSockets* const sockets = ports.pulse_sockets_;
  // A packet that was changed on its way fails its checksum.
  if (kind != Packet::kPulse && !std::equal(bytes.begin(), bytes.end(), kKernelPacket.begin())) return;
  switch (kind) {
    case Packet::kPulse:
      if (sockets == nullptr || !sockets->pulse(way.to_port, from, bytes)) {
        transmit(ports, way.to_port, &from, kKernelPacket, Packet::kRefusal);
      }
      return;
    case Packet::kQuestion:
      return transmit(ports, way.to_port, &from, kKernelPacket, Packet::kAnswer);
    case Packet::kAnswer:
      if (sockets != nullptr) sockets->answered(way.to_port, from);
      return;
    case Packet::kRefusal:
      if (sockets != nullptr) sockets->refused(way.to_port, from);
      return;
    case Packet::kControl:
      return;
  }
}

}  // namespace cableway::sim
