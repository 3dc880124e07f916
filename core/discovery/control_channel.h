// Datagrams between nodes that share a cable: bound to a port, never routed. Best effort: whole or not at all, possibly
// twice, possibly out of order. core/linux/control/udp_control_channel.h is the real one.
#ifndef CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_
#define CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/discovery/port_inventory.h"
#include "routing/topology/port_address.h"

namespace cableway {

inline constexpr std::uint16_t kDefaultControlPort = 7471;  // UDP

// A datagram that is larger does not leave, and one that arrives is dropped and counted.
inline constexpr std::size_t kMaxDatagramBytes = 32768;

struct ReceivedDatagram {
  PortId port = 0;            // that it arrived at
  routing::PortAddress from;  // of the sender; a link-local one has this side's interface as its scope
  std::span<const std::byte> bytes;
};

// One thread: the node's.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;

  // To whoever is on the port's cable, in every address family that the port has. This node's own are not heard.
  virtual void send_to_all(PortId port, std::span<const std::byte> bytes) = 0;
  // To one of them, by the address that its datagrams came from.
  virtual void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) = 0;
  // `receive` gets every datagram, never from inside a call of the channel's. One listener.
  virtual void listen(std::function<void(const ReceivedDatagram&)> receive) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CONTROL_CHANNEL_H_
