// A pulse: the datagram that a node sends every few milliseconds over each of its cables, so that the other end
// notices within a few milliseconds when the cable stops carrying data. Most pulses are small. Large ones, padded
// with zeros until their IP packet has the cable's full MTU, show that large packets also pass.
//
//   offset 0 magic (2)       12 from node (8)     44 interval in ms (2)
//          2 version (1)     20 to node (8)       46 lateness in ms (2)
//          3 says (1)        28 boot nonce (8)    48 seal (16)
//          4 from port (4)   36 counter (8)       64 padding, of large ones
//          8 to port (4)
//
// "Says" is a set of bits: 1 nothing arrives at the sender, 2 no large pulse arrives there, 4 this pulse is large.
// The seal is a keyed MAC of all bytes before it, or zeros if the cluster has no key. The node IDs are specific to
// one cluster (routing::node_id()) and name both ends, so that a pulse proves nothing about another cable.
#ifndef CABLEWAY_CORE_PULSE_PULSE_H_
#define CABLEWAY_CORE_PULSE_PULSE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/crypto/datagram_seal.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/node_id.h"

namespace cableway {

inline constexpr std::uint16_t kPulseMagic = 0x5043;  // "CP"
inline constexpr std::uint8_t kPulseVersion = 2;
inline constexpr std::size_t kPulseBytes = 64;  // size of a small pulse
inline constexpr std::uint16_t kMaxPulseIntervalMs = 100;
inline constexpr std::uint16_t kDefaultPulsePort = 7472;  // UDP

// One pulse in this number is large: one every 50 ms, but at most every other pulse.
constexpr int large_pulse_every(std::chrono::milliseconds interval) {
  constexpr std::chrono::milliseconds kLargeInterval{50};
  return std::max(2, static_cast<int>((kLargeInterval + interval - std::chrono::milliseconds(1)) / interval));
}

// One end of a cable.
struct CableEnd {
  routing::NodeId node;
  PortId port = 0;  // a port of `node`

  friend bool operator==(const CableEnd&, const CableEnd&) = default;
};

struct Pulse {
  bool hears = true;        // false: nothing that the receiver sends arrives at the sender any more
  bool hears_large = true;  // false: nor do the receiver's large pulses, although small ones may
  bool large = false;       // this pulse is large
  CableEnd from;
  CableEnd to;
  std::uint64_t boot_nonce = 0;  // the sender's
  // At least 1. Grows by one with each pulse over a cable. A cable begins above all counters that its sender has used
  // before.
  std::uint64_t counter = 0;
  std::uint16_t interval_ms = 0;  // 1 to kMaxPulseIntervalMs
  std::uint16_t late_ms = 0;      // the maximum lateness of the sender's pulses in the last 10 to 20 s

  friend bool operator==(const Pulse&, const Pulse&) = default;
};

// Replaces the content of `out` with kPulseBytes bytes, without padding. Allocates only if `out` lacks the capacity.
void encode_pulse(const Pulse& pulse, const DatagramSeal& seal, std::vector<std::byte>& out);

// nullopt: not a pulse of this version. Does not check the seal, which costs more than checking the ends. `bytes`:
// the first kPulseBytes of a datagram, or all of a shorter one.
std::optional<Pulse> decode_pulse(std::span<const std::byte> bytes);
// Precondition: decode_pulse() has accepted it.
bool is_pulse_sealed(std::span<const std::byte> bytes, const DatagramSeal& seal);

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_PULSE_H_
