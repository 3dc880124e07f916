#include "core/linux/rdma/verbs_ports.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/linux/rdma/rdma_ports.h"

namespace cableway::host {
namespace {

constexpr char kLoopbackType[] = "772";  // ARPHRD_LOOPBACK, as sysfs prints it

bool is_address(const sockaddr* found, const routing::PortAddress& address) {
  if (found == nullptr) return false;
  if (found->sa_family == AF_INET && !address.is_ipv6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(found)->sin_addr, address.bytes.data(), 4) == 0;
  }
  if (found->sa_family == AF_INET6 && address.is_ipv6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(found)->sin6_addr, address.bytes.data(), 16) == 0;
  }
  return false;
}

}  // namespace

std::array<std::byte, 16> gid_of(const routing::PortAddress& address) {
  std::array<std::byte, 16> gid{};
  const auto* const bytes = reinterpret_cast<const std::byte*>(address.bytes.data());
  if (address.is_ipv6) {
    std::copy_n(bytes, 16, gid.begin());
  } else {
    gid[10] = gid[11] = std::byte{0xff};
    std::copy_n(bytes, 4, gid.begin() + 12);
  }
  return gid;
}

std::string interface_with(const routing::PortAddress& address) {
  if (!address.scope.empty()) return address.scope;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, &::freeifaddrs);
  for (const ifaddrs* found = list; found != nullptr; found = found->ifa_next) {
    if (is_address(found->ifa_addr, address)) return found->ifa_name;
  }
  return "";
}

absl::StatusOr<PortInterface> read_port_interface(const Sysfs& sysfs, const std::string& name) {
  const std::string folder = absl::StrCat("class/net/", name);
  const std::string address = sysfs.line(absl::StrCat(folder, "/address"));
  const std::optional<EthernetAddress> ethernet = parse_ethernet_address(address);
  const bool is_loopback = sysfs.line(absl::StrCat(folder, "/type")) == kLoopbackType;
  const bool has_one = ethernet.has_value() && (ethernet->is_of_an_interface() || (is_loopback && ethernet->is_zero()));
  PortInterface interface { name, 0, ethernet.value_or(EthernetAddress()) };
  const bool is_there = absl::SimpleAtoi(sysfs.line(absl::StrCat(folder, "/ifindex")), &interface.index);
  if (is_there && interface.index != 0 && has_one) return interface;
  return absl::FailedPreconditionError(
      is_there ? absl::StrCat("interface ", name, " has the address \"", address, "\", which is no Ethernet address")
               : absl::StrCat("there is no interface ", name, " any more"));
}

absl::StatusOr<std::optional<VerbsPort>> verbs_port_of(const routing::PortAddress& address, const VerbsHost& host) {
  const std::string interface = host.interface_of(address);
  if (interface.empty()) {
    return absl::NotFoundError(absl::StrCat("no interface of this host has the address ", to_text(address)));
  }
  const std::vector<RdmaPort> ports = read_rdma_ports(host.sysfs, host.device_folder);
  const RdmaPort* const port = rdma_port_of(ports, read_interface(host.sysfs, interface));
  if (port == nullptr) return std::nullopt;
  const absl::StatusOr<int> index = usable_gid(*port, interface, address);
  if (!index.ok()) return index.status();
  VerbsGid gid{*index, gid_of(address), port->number};
  static_cast<void>(
      absl::SimpleAtoi(host.sysfs.line(absl::StrCat("class/net/", interface, "/ifindex")), &gid.interface));
  return VerbsPort{port->device, gid, interface};
}

}  // namespace cableway::host
