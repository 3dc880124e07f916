// The interfaces that lead off this host: where its default routes go.
#ifndef CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_
#define CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_

#include <string>
#include <vector>

namespace cableway::host {

// Of the main tables of this process's network namespace, IPv4 before IPv6, those with the smallest metric first, each
// interface once. `folder` has the kernel's route and ipv6_route; what cannot be read or is no route is left out.
std::vector<std::string> default_route_interfaces(const std::string& folder = "/proc/net");

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_DEFAULT_ROUTE_H_
