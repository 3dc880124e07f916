// A neighbour: one port of another node, heard over one port of ours.
#ifndef CABLEWAY_CORE_DISCOVERY_NEIGHBOUR_H_
#define CABLEWAY_CORE_DISCOVERY_NEIGHBOUR_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/discovery/cable_addresses.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/node_id.h"

namespace cableway {

// Identifies a neighbour: our port, its node and its port.
struct NeighbourKey {
  PortId port = 0;
  routing::NodeId node;
  PortId neighbour_port = 0;
  friend auto operator<=>(const NeighbourKey&, const NeighbourKey&) = default;
};

// The directions in which a neighbour's cable drops large packets (full_size_hellos.h).
struct LargePacketLoss {
  bool from = false;  // the neighbour
  bool to = false;
  bool any() const { return from || to; }

  friend bool operator==(const LargePacketLoss&, const LargePacketLoss&) = default;
};

// One whose incarnation has proved that it lives (life_challenges.h).
struct Neighbour {
  std::string our_interface;  // kept, since the port may be gone before the neighbour is
  std::string name;
  std::string interface;  // the neighbour's
  std::uint64_t boot_nonce = 0;
  CableAddresses addresses;
  bool up = false;             // both ports hear each other, and large packets pass
  bool hears_us = false;       // its newest hello names this incarnation of ours, whether or not it uses the cable
  LargePacketLoss large_lost;  // keeps it down; empty while MTU or addresses do not fit
  // False: other ports of the two nodes are the cable on this wire (port_pairing.h).
  bool paired = true;
  Instant heard_since;
  Instant last_heard;
  std::uint64_t our_adjacency = 0;    // numbers that tell this adjacency from earlier ones of the same two ports
  std::uint64_t their_adjacency = 0;  // 0: not known yet, or the neighbour does not use the cable
  // One way, as measured since the adjacency came up (cable_latencies.h); empty: not known yet.
  std::optional<Duration> latency;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_NEIGHBOUR_H_
