// A cable of this node that is up, with what pulses need to know about it.
#ifndef CABLEWAY_CORE_PULSE_PULSED_CABLE_H_
#define CABLEWAY_CORE_PULSE_PULSED_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/pulse/pulse.h"
#include "routing/topology/port_address.h"

namespace cableway {

struct PulsedCable {
  std::string name;       // routing::discovered_cable_name()
  std::string interface;  // of this node's port
  std::string neighbour;  // the node at the other end
  // The port hears only this neighbour: any packet that arrives there shows that the neighbour's host is alive.
  bool only_neighbour = false;
  CableEnd own;
  CableEnd other;
  std::uint64_t own_boot_nonce = 0;
  std::uint64_t other_boot_nonce = 0;
  // The size of a large pulse's datagram, whose IP packet has the MTU of both ports.
  std::size_t large_bytes = 0;
  routing::PortAddress own_address;
  routing::PortAddress other_address;  // a link-local one has this side's interface as its scope

  friend bool operator==(const PulsedCable&, const PulsedCable&) = default;
};

// The same ports in the same incarnations of both nodes: the numbers of pulses continue.
inline bool are_same_ends(const PulsedCable& left, const PulsedCable& right) {
  return left.own == right.own && left.other == right.other && left.own_boot_nonce == right.own_boot_nonce &&
         left.other_boot_nonce == right.other_boot_nonce;
}

// Also the same addresses: pulses sent before still count, and a socket of one cable works for the other.
inline bool is_same_link(const PulsedCable& left, const PulsedCable& right) {
  return are_same_ends(left, right) && left.own_address == right.own_address &&
         left.other_address == right.other_address;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_PULSED_CABLE_H_
