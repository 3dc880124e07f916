// The transport that hops over a port would use, and why, derived from the setting and the port's attributes. A hop's
// set-up makes the actual choice (core/linux/rdma/rdma_transport.h), from the same data and the other end's.
#ifndef CABLEWAY_CORE_SETTINGS_PORT_TRANSPORT_H_
#define CABLEWAY_CORE_SETTINGS_PORT_TRANSPORT_H_

#include <string>

#include "core/ports/port_inventory.h"
#include "core/settings/settings.h"

namespace cableway {

struct PortTransport {
  enum class Kind { kRdma, kTcp, kRefused };
  Kind kind = Kind::kTcp;
  std::string why;  // "mlx5_0, RoCE v2, GID 3", "no RDMA device behind eth1", "CABLEWAY_TRANSPORT=tcp"
};

const char* name_of(PortTransport::Kind kind);  // "rdma", "tcp", "refused"

PortTransport transport_of(const PortFacts& port, TransportSetting setting);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_PORT_TRANSPORT_H_
