// What the kernel counts of a node's ports: their interfaces, and the RDMA devices behind them.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
#define CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_

#include <vector>

#include "core/linux/os/sysfs.h"
#include "core/metrics/host_measures.h"
#include "core/ports/port_inventory.h"

namespace cableway::host {

// Adds the bytes over RDMA to the interfaces of `ports`, from two small files of each. None for a port without a
// device, whose device has no such counters or is on InfiniBand, or shares it with another port.
void add_rdma_bytes(const Sysfs& sysfs, const std::vector<PortFacts>& ports, HostTraffic& traffic);

// read_interface_traffic() with them.
HostTraffic read_port_traffic(const std::vector<PortFacts>& ports);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
