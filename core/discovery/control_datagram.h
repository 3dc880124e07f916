// The envelope of every datagram between nodes: sender, its incarnation (boot nonce), a counter, and a seal.
//
//   offset  0       2         3      4         12       20           28        36     40       size - 32
//           +-------+---------+------+---------+--------+------------+---------+------+--------+-----------+
//           | magic | version | kind | cluster | sender | boot nonce | counter | port | body   | seal      |
//           +-------+---------+------+---------+--------+------------+---------+------+--------+-----------+
//
// The seal is a keyed MAC of all bytes before it, or zeros if the cluster has no key. The counter strictly increases
// over an incarnation's datagrams, so that receivers detect copies.
#ifndef CABLEWAY_CORE_DISCOVERY_CONTROL_DATAGRAM_H_
#define CABLEWAY_CORE_DISCOVERY_CONTROL_DATAGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/crypto/datagram_seal.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/node_id.h"

namespace cableway {

inline constexpr std::uint16_t kControlMagic = 0x5743;  // "CW"
inline constexpr std::uint8_t kControlVersion = 3;
inline constexpr std::size_t kControlHeaderBytes = 40;
inline constexpr std::size_t kControlEnvelopeBytes = kControlHeaderBytes + kSealBytes;

enum class ControlKind : std::uint8_t { kHello = 1, kSegment = 2 };

struct ControlDatagram {
  ControlKind kind = ControlKind::kHello;
  std::uint64_t cluster = 0;  // routing::cluster_id()
  routing::NodeId sender;
  std::uint64_t boot_nonce = 0;
  std::uint64_t counter = 0;
  PortId port = 0;  // the sender's, not 0
  std::span<const std::byte> body;
};

// Why a datagram is rejected. Checked in this order; the first fault found is returned.
enum class ControlFault { kNone, kGarbage, kVersion, kCluster, kSeal };

std::vector<std::byte> encode_control_datagram(const ControlDatagram& datagram, const DatagramSeal& seal);

// Fills in `datagram` as far as it was read: with kCluster and kSeal its fields name the claimed sender. The body
// points into `bytes`.
ControlFault decode_control_datagram(std::span<const std::byte> bytes, std::uint64_t cluster, const DatagramSeal& seal,
                                     ControlDatagram& datagram);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CONTROL_DATAGRAM_H_
