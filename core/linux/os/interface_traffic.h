// What the kernel counts of each interface, from /proc/net/dev.
#ifndef CABLEWAY_CORE_LINUX_OS_INTERFACE_TRAFFIC_H_
#define CABLEWAY_CORE_LINUX_OS_INTERFACE_TRAFFIC_H_

#include <string_view>

#include "core/metrics/host_measures.h"

namespace cableway::host {

// From the text of /proc/net/dev. A line that is not of its form is left out.
HostTraffic parse_interface_traffic(std::string_view table);

// Of the network namespace of the calling thread, at most some 2,000 interfaces. Does not take the kernel's RTNL lock.
HostTraffic read_interface_traffic();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_INTERFACE_TRAFFIC_H_
