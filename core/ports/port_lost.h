// The report that a port, or one cable of it, no longer carries data. A connection over it does not fail by itself for
// seconds.
#ifndef CABLEWAY_CORE_PORTS_PORT_LOST_H_
#define CABLEWAY_CORE_PORTS_PORT_LOST_H_

#include <string>

namespace cableway {

struct PortLost {
  std::string interface;
  std::string reason;      // "the port has lost its carrier"
  bool only_rdma = false;  // its RDMA device has failed: hops over TCP go on
  std::string cable = {};  // the name of the one that is lost; "": all of the port's
  // The node at the cable's other end relays nothing: circuits that end at its processes go on.
  bool only_relayed = false;

  friend bool operator==(const PortLost&, const PortLost&) = default;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORTS_PORT_LOST_H_
