// A range of TCP ports from which a listener chooses one.
#ifndef CABLEWAY_CORE_SETTINGS_PORT_RANGE_H_
#define CABLEWAY_CORE_SETTINGS_PORT_RANGE_H_

#include <cstdint>

namespace cableway {

// Inclusive. 0 and 0: any free port.
struct PortRange {
  std::uint16_t low = 0;
  std::uint16_t high = 0;

  friend bool operator==(const PortRange&, const PortRange&) = default;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_PORT_RANGE_H_
