// One entry of CABLEWAY_PORTS: which interfaces, or which of their addresses, a node uses.
#ifndef CABLEWAY_CORE_PORTS_PORT_SELECTOR_H_
#define CABLEWAY_CORE_PORTS_PORT_SELECTOR_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/ports/port_inventory.h"

namespace cableway {

// An interface with all its addresses, or, where `interface` is empty, every address inside a prefix.
struct PortSelector {
  std::string interface;
  PortPrefix prefix;  // `address` is the first of the prefix; its scope, if any, selects one interface

  friend bool operator==(const PortSelector&, const PortSelector&) = default;
};

// "eth1", "10.7.0.0/16", "fe80::/10", "fe80::%eth1/10", or an address alone, which selects just that one. "0.0.0.0/0"
// and "::/0" are all addresses of a family. InvalidArgument says what is wrong and what was expected. An address with
// bits beyond its prefix is rejected as ambiguous.
absl::StatusOr<PortSelector> parse_port_selector(std::string_view text);

// In the form that parse_port_selector() accepts.
std::string to_text(const PortSelector& selector);
std::string to_text(const PortPrefix& prefix);

// Whether `address` lies in `prefix`. If the prefix has a scope, the address must have the same.
bool contains(const PortPrefix& prefix, const routing::PortAddress& address);

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORTS_PORT_SELECTOR_H_
