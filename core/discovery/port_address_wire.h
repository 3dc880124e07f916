// The wire form of a port's address: family and bytes. Scopes are local to a node and are not sent.
#ifndef CABLEWAY_CORE_DISCOVERY_PORT_ADDRESS_WIRE_H_
#define CABLEWAY_CORE_DISCOVERY_PORT_ADDRESS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/wire.h"
#include "routing/topology/port_address.h"

namespace cableway {

inline void put_port_address(WireWriter& writer, const routing::PortAddress& address) {
  writer.put(static_cast<std::uint8_t>(address.is_ipv6 ? 6 : 4));
  writer.put_bytes(std::as_bytes(std::span(address.bytes).first(address.is_ipv6 ? 16 : 4)));
}

// Anything but a unicast IPv4 or IPv6 address makes the reader bad.
inline routing::PortAddress get_port_address(WireReader& reader) {
  routing::PortAddress address;
  const auto family = reader.get<std::uint8_t>();
  address.is_ipv6 = family == 6;
  reader.get_bytes(std::as_writable_bytes(std::span(address.bytes).first(address.is_ipv6 ? 16 : 4)));
  if ((family != 4 && family != 6) || !routing::is_unicast(address)) reader.reject();
  return address;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_PORT_ADDRESS_WIRE_H_
