// The report that a port no longer carries data. A connection over it does not fail by itself for seconds.
#ifndef CABLEWAY_CORE_PORTS_PORT_LOST_H_
#define CABLEWAY_CORE_PORTS_PORT_LOST_H_

#include <string>

namespace cableway {

struct PortLost {
  std::string interface;
  std::string reason;      // "the port has lost its carrier"
  bool only_rdma = false;  // its RDMA device has failed: hops over TCP go on

  friend bool operator==(const PortLost&, const PortLost&) = default;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORTS_PORT_LOST_H_
