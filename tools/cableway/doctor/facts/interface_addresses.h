// The addresses of this host's interfaces, whether or not they are ports.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_INTERFACE_ADDRESSES_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_INTERFACE_ADDRESSES_H_

#include <string>
#include <vector>

#include "core/ports/port_inventory.h"

namespace cableway::cli {

struct InterfaceAddress {
  std::string interface;
  PortPrefix prefix;
};

// Those of interfaces that are up, except loopback and link-local ones. Empty if the kernel does not list them.
std::vector<InterfaceAddress> read_interface_addresses();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_INTERFACE_ADDRESSES_H_
