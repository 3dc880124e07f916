// Datagrams between nodes that share a cable: bound to a port, never routed. Best effort: datagrams may be lost,
// duplicated or reordered, but not truncated. core/linux/control/udp_control_channel.h is the real one.
#ifndef CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_
#define CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/clock.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/port_address.h"

namespace cableway {

inline constexpr std::uint16_t kDefaultControlPort = 7471;  // UDP

// Larger datagrams are not sent; larger datagrams received are dropped and counted.
inline constexpr std::size_t kMaxDatagramBytes = 32768;

struct ReceivedDatagram {
  PortId port = 0;            // where it arrived
  routing::PortAddress from;  // the sender's; a link-local one has this side's interface as its scope
  std::span<const std::byte> bytes;
  Duration waited{0};  // from its arrival until now; 0: not known
};

// A datagram that the port's MTU has room for travels as one packet: it is never fragmented, but lost if it is too
// large for a link. One thread: the node's.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;

  // Multicasts on the port's cable, in every address family that the port has. The port does not receive its own; other
  // ports of the node may, where they are on the same wire.
  virtual void send_to_all(PortId port, std::span<const std::byte> bytes) = 0;
  // As send_to_all(), but in one address family, which the port has.
  virtual void send_to_family(PortId port, bool is_ipv6, std::span<const std::byte> bytes) = 0;
  // Sends to one node, at the source address of its datagrams.
  virtual void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) = 0;
  // `receive` is called for every datagram, never from inside a call of the channel. One listener.
  virtual void listen(std::function<void(const ReceivedDatagram&)> receive) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_
