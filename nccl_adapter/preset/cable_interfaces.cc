#include "nccl_adapter/preset/cable_interfaces.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
#include "routing/topology/port_address.h"

namespace cableway::nccl {
namespace {

using Addresses = std::multimap<std::string, routing::PortAddress>;  // by interface

Addresses read_addresses() {
  Addresses addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const int family = each->ifa_addr == nullptr ? AF_UNSPEC : each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ifa_addr, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(text.data());
    if (address.ok()) addresses.emplace(each->ifa_name, *address);
  }
  ::freeifaddrs(list);
  return addresses;
}

bool selects(const PortSelector& selector, const std::string& interface, const Addresses& addresses) {
  if (!selector.interface.empty()) return selector.interface == interface;
  const auto [first, last] = addresses.equal_range(interface);
  return std::any_of(first, last, [&](const auto& entry) { return contains(selector.prefix, entry.second); });
}

}  // namespace

std::vector<std::string> cable_interfaces(const std::vector<std::string>& interfaces,
                                          const std::vector<PortSelector>& selectors, const std::string& sysfs) {
  const Addresses addresses = selectors.empty() ? Addresses() : read_addresses();
  std::vector<std::string> cables;
  std::copy_if(interfaces.begin(), interfaces.end(), std::back_inserter(cables), [&](const std::string& interface) {
    if (selectors.empty()) {
      return ::access(absl::StrCat(sysfs, "/class/net/", interface, "/device/infiniband").c_str(), F_OK) == 0;
    }
    return std::any_of(selectors.begin(), selectors.end(),
                       [&](const PortSelector& selector) { return selects(selector, interface, addresses); });
  });
  return cables;
}

}  // namespace cableway::nccl
