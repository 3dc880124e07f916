#include "core/linux/verbs_ports.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/rdma_devices.h"

namespace cableway::linux_ {
namespace {

constexpr std::size_t kMostNames = 256;

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

VerbsGid gid_at(int index, const routing::PortAddress& address) {
  VerbsGid gid{index, {}};
  const auto* const bytes = reinterpret_cast<const std::byte*>(address.bytes.data());
  if (address.is_ipv6) {
    std::copy_n(bytes, 16, gid.bytes.begin());
  } else {
    gid.bytes[10] = gid.bytes[11] = std::byte{0xff};
    std::copy_n(bytes, 4, gid.bytes.begin() + 12);
  }
  return gid;
}

// Of the InfiniBand device that is the same PCI function, "" if there is none.
std::string infiniband_behind(const Sysfs& sysfs, const std::string& pci_function) {
  if (pci_function.empty()) return "";
  for (const std::string& name : sysfs.names("class/infiniband", kMostNames)) {
    const std::string folder = absl::StrCat("class/infiniband/", name);
    if (sysfs.line(absl::StrCat(folder, "/ports/1/link_layer")) != "InfiniBand") continue;
    if (sysfs.link_name(absl::StrCat(folder, "/device")) == pci_function) return name;
  }
  return "";
}

// The file through which processes use the device. It is there on a host; in a container only if it was given.
absl::Status check_device_file(const VerbsHost& host, const std::string& device) {
  for (const std::string& name : host.sysfs.names("class/infiniband_verbs", kMostNames)) {
    if (host.sysfs.line(absl::StrCat("class/infiniband_verbs/", name, "/ibdev")) != device) continue;
    const std::string file = absl::StrCat(host.device_folder, "/", name);
    if (::access(file.c_str(), R_OK | W_OK) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("RDMA device ", device, " cannot be used: ", file, ": ", std::generic_category().message(errno),
                     "; a container needs the host's /dev/infiniband (docker run --device=/dev/infiniband), and its "
                     "user reading and writing of it"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "RDMA device ", device, " cannot be used by processes: the kernel's ib_uverbs module is not loaded"));
}

absl::StatusOr<std::optional<VerbsPort>> port_on(const RdmaDevice& device, const std::string& interface,
                                                 const routing::PortAddress& address, const VerbsHost& host) {
  if (!device.is_active()) {
    return absl::FailedPreconditionError(absl::StrCat("RDMA device ", device.name, " behind ", interface,
                                                      " is not active, its state is \"", device.state, "\""));
  }
  const int index = gid_index_of(device, interface, address);
  if (index < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("RDMA device ", device.name, " behind ", interface, " has no RoCE v2 GID for ", to_text(address)));
  }
  if (absl::Status status = check_device_file(host, device.name); !status.ok()) return status;
  return VerbsPort{device.name, gid_at(index, address)};
}

}  // namespace

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

absl::StatusOr<std::optional<VerbsPort>> verbs_port_of(const routing::PortAddress& address, const VerbsHost& host) {
  const std::string interface = host.interface_of(address);
  if (interface.empty()) {
    return absl::NotFoundError(absl::StrCat("no interface of this host has the address ", to_text(address)));
  }
  const std::string pci_function = host.sysfs.link_name(absl::StrCat("class/net/", interface, "/device"));
  const std::vector<RdmaDevice> devices = read_rdma_devices(host.sysfs);
  if (const RdmaDevice* const device = rdma_device_of(devices, interface, pci_function); device != nullptr) {
    return port_on(*device, interface, address, host);
  }
  if (const std::string name = infiniband_behind(host.sysfs, pci_function); !name.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("RDMA device ", name, " behind ", interface,
                                                      " is on InfiniBand; Cableway uses RDMA over Ethernet (RoCE v2) "
                                                      "only"));
  }
  return std::nullopt;
}

}  // namespace cableway::linux_
