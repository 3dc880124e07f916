// The IP address of a port, compared by value and not by spelling.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_PORT_ADDRESS_H_
#define CABLEWAY_ROUTING_TOPOLOGY_PORT_ADDRESS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::routing {

struct PortAddress {
  bool is_ipv6 = false;
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 uses the first four, the rest are 0
  std::string scope;                     // the part after % in a link-local IPv6 address, may be empty

  bool is_ipv6_link_local() const { return is_ipv6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
  friend auto operator<=>(const PortAddress&, const PortAddress&) = default;
};

// A unicast IPv4 or IPv6 literal. InvalidArgument names the fault and what was expected.
absl::StatusOr<PortAddress> parse_port_address(std::string_view text);

// A literal that parse_port_address() accepts, in the canonical spelling (RFC 5952 for IPv6).
std::string to_text(const PortAddress& address);

// Whether the address is neither unspecified, multicast nor reserved.
bool is_unicast(const PortAddress& address);

// Whether the first `prefix_length` bits agree. False for addresses of different families.
bool in_same_prefix(const PortAddress& left, const PortAddress& right, std::uint8_t prefix_length);

inline constexpr std::size_t kMaxInterfaceNameBytes = 15;  // IFNAMSIZ - 1

// Whether `name` is a valid Linux interface name: 1 to 15 printable characters other than space / : % " and backslash,
// not "." or "..", and not beginning with '-', as an option of a command does. (Linux would allow the last four;
// rejecting them keeps files, messages and commands simple.)
bool is_valid_interface_name(std::string_view name);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_PORT_ADDRESS_H_
