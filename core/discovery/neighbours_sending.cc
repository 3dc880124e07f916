// What Neighbours sends: hellos of both sizes, and segments.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/discovery/neighbours.h"

namespace cableway {
namespace {

constexpr std::chrono::milliseconds kHelloDelay{10};  // between a change and the hello that advertises it

}  // namespace

void Neighbours::send_hellos(bool leaving) {
  hello_soon_.clear();
  for (const PortFacts& port : ports_) send_hello(port, leaving);
}

void Neighbours::send_hello(const PortFacts& port, bool leaving) {
  if (!port.carrier) return;
  PortHello hello;
  hello.node = identity_.name;
  hello.interface = port.interface;
  hello.mtu = port.mtu;
  hello.hold_ms = static_cast<std::uint32_t>(timing_.hold.count());
  hello.leaving = leaving;
  hello.addresses = hello_addresses(port, ports_);
  const bool full_size = !leaving && full_size_.is_next(port.id);
  // Read as late as possible: later work counts as latency.
  const Instant now = clock_.now();
  if (!full_size) hello.sent_ns = static_cast<std::uint64_t>(now.since_start.count());
  for (auto each = public_.lower_bound(NeighbourKey{port.id, {}, 0});
       each != public_.end() && each->first.port == port.id; ++each) {
    const auto& [key, neighbour] = *each;
    hello.heard.push_back(
        HeardNeighbour{key.node, key.neighbour_port, neighbour.boot_nonce, heard_.at(key).their_number,
                       neighbour.our_adjacency, neighbour.paired && heard_.at(key).fits,
                       full_size ? HelloEcho() : latencies_.echo(key, now), full_size_.arrivals(key, now)});
  }
  for (HeardNeighbour& challenge : challenges_.entries(port.id)) hello.heard.push_back(challenge);
  own_hellos_[(counter_ + 1) % own_hellos_.size()] = {counter_ + 1, own_mac(hello)};
  if (full_size) return send_full_size(port, hello);
  send(port.id, nullptr, ControlKind::kHello, encode_port_hello(hello));
}

// In each family with its own padding, as the families' headers differ. One counter, since they are one hello.
void Neighbours::send_full_size(const PortFacts& port, const PortHello& hello) {
  ++counter_;
  for (const bool is_ipv6 : {false, true}) {
    if (!has_family(port, is_ipv6)) continue;
    const std::size_t bytes = std::max(full_size_bytes(port.mtu, is_ipv6), kControlEnvelopeBytes);
    const std::vector<std::byte> body = encode_port_hello(hello, bytes - kControlEnvelopeBytes);
    channel_.send_to_family(port.id, is_ipv6, datagram(port.id, ControlKind::kHello, body));
  }
}

void Neighbours::hello_soon(PortId port) {
  const bool waiting = !hello_soon_.empty();
  hello_soon_.insert(port);
  if (waiting) return;
  soon_ = clock_.call_after(kHelloDelay, [this] {
    for (const PortId id : std::exchange(hello_soon_, {})) {
      if (const PortFacts* due = find_port(id); due != nullptr) send_hello(*due, false);
    }
  });
}

void Neighbours::send(PortId port, const routing::PortAddress* to, ControlKind kind, std::span<const std::byte> body) {
  ++counter_;
  const std::vector<std::byte> bytes = datagram(port, kind, body);
  to == nullptr ? channel_.send_to_all(port, bytes) : channel_.send(port, *to, bytes);
}

std::vector<std::byte> Neighbours::datagram(PortId port, ControlKind kind, std::span<const std::byte> body) const {
  const ControlDatagram content{kind, cluster_id_, id_, identity_.boot_nonce, counter_, port, body};
  return encode_control_datagram(content, seal_);
}

void Neighbours::send_segment(const NeighbourKey& key, std::span<const std::byte> body) {
  const auto heard = heard_.find(key);
  if (heard == heard_.end() || !public_.at(key).up) return;
  send(key.port, &heard->second.from, ControlKind::kSegment, body);
}

}  // namespace cableway
