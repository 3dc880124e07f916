// The transport of one end of a hop and the reason for it, for display.
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_TRANSPORT_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_TRANSPORT_H_

#include <string>

namespace cableway {

struct HopTransport {
  std::string over;    // "tcp", or "rdma " and this end's device
  std::string reason;  // "no RDMA device behind eth1"

  friend bool operator==(const HopTransport&, const HopTransport&) = default;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_TRANSPORT_H_
