// Which ports of a host are meant: an interface by its name, or every port that has an address in a prefix.
#ifndef CABLEWAY_CORE_PORT_SELECTOR_H_
#define CABLEWAY_CORE_PORT_SELECTOR_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/port_inventory.h"

namespace cableway {

struct PortSelector {
  std::string interface;  // empty: prefix says it
  PortPrefix prefix;      // bits past its length mean nothing

  friend bool operator==(const PortSelector&, const PortSelector&) = default;
};

// "eth1", "10.7.0.0/16", "fd00::/8". Nothing where `text` is neither: also for an address without a prefix length,
// which would pass for the name of an interface.
std::optional<PortSelector> parse_port_selector(std::string_view text);

// Text that parse_port_selector() turns back into an equal selector.
std::string to_text(const PortSelector& selector);

bool selects(const PortSelector& selector, const PortFacts& port);

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORT_SELECTOR_H_
