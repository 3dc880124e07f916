// The interfaces of this host's default routes.
#ifndef CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_
#define CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_

#include <string>
#include <vector>

namespace cableway::host {

// Reads the main tables of this process's network namespace: IPv4 before IPv6, smallest metric first, each interface
// once. `folder` contains the kernel's files route and ipv6_route. Files or lines that cannot be read or parsed are
// omitted.
std::vector<std::string> default_route_interfaces(const std::string& folder = "/proc/net");

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_
