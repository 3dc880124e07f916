#include "core/linux/rdma/rdma_ports.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxDevices = 256;
constexpr std::size_t kMaxPorts = 16;
constexpr std::size_t kMaxGids = 4096;
// The kernel puts a new address into the first free entry, so nothing follows this many free ones. Reading a whole
// table of a thousand entries takes longer than a set-up may.
constexpr int kMaxFreeEntries = 64;

std::optional<int> index_from(const std::string& text) {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

// A GID is an IPv6 address, or an IPv4 one in the last four bytes after ::ffff.
std::optional<routing::PortAddress> address_from_gid(const std::string& text) {
  constexpr std::array<std::uint8_t, 12> kIpv4Mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
  if (bytes == std::array<std::uint8_t, 16>{}) return std::nullopt;
  routing::PortAddress address;
  address.is_ipv6 = !std::equal(kIpv4Mapped.begin(), kIpv4Mapped.end(), bytes.begin());
  if (address.is_ipv6) {
    address.bytes = bytes;
  } else {
    std::copy(bytes.begin() + 12, bytes.end(), address.bytes.begin());
  }
  return address;
}

// The numeric names in a folder, in ascending order.
std::vector<int> read_numbers(const Sysfs& sysfs, const std::string& folder, std::size_t most) {
  std::vector<int> numbers;
  for (const std::string& name : sysfs.names(folder, most)) {
    if (const std::optional<int> number = index_from(name); number.has_value()) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

int roce_version(const std::string& type) {
  if (type == "RoCE v2") return 2;
  return type == "IB/RoCE v1" ? 1 : 0;
}

// Free entries of the table cannot be read, or are all zeros.
std::vector<RoceGid> read_gids(const Sysfs& sysfs, const std::string& port) {
  std::vector<RoceGid> gids;
  int last_taken = -1;
  for (const int index : read_numbers(sysfs, absl::StrCat(port, "/gid_attrs/ndevs"), kMaxGids)) {
    if (index > last_taken + kMaxFreeEntries) break;
    const std::string interface = sysfs.line(absl::StrCat(port, "/gid_attrs/ndevs/", index));
    if (interface.empty()) continue;
    last_taken = index;
    const int version = roce_version(sysfs.line(absl::StrCat(port, "/gid_attrs/types/", index)));
    if (version == 0) continue;
    const auto address = address_from_gid(sysfs.line(absl::StrCat(port, "/gids/", index)));
    if (address.has_value()) gids.push_back(RoceGid{index, interface, *address, version});
  }
  return gids;
}

// The names of the files through which processes use the devices, by device.
std::map<std::string, std::string> read_device_files(const Sysfs& sysfs) {
  std::map<std::string, std::string> files;
  for (const std::string& name : sysfs.names("class/infiniband_verbs", kMaxDevices)) {
    files[sysfs.line(absl::StrCat("class/infiniband_verbs/", name, "/ibdev"))] = name;
  }
  return files;
}

// On a host the file exists; in a container only if it was passed in.
std::string why_no_access(const std::string& device, const std::map<std::string, std::string>& files,
                          const std::string& device_folder) {
  const auto found = files.find(device);
  if (found == files.end()) {
    return absl::StrCat("RDMA device ", device,
                        " cannot be used by processes: the kernel's ib_uverbs module is not loaded");
  }
  const std::string file = absl::StrCat(device_folder, "/", found->second);
  if (::access(file.c_str(), R_OK | W_OK) == 0) return "";
  return absl::StrCat("RDMA device ", device, " cannot be used: ", file, ": ", std::generic_category().message(errno),
                      "; a container needs the host's /dev/infiniband and a device rule (cableway env --docker prints "
                      "both), and its user needs read and write access to it");
}

// Reads what all ports of a device have in common.
RdmaPort read_device(const Sysfs& sysfs, const std::string& name) {
  const std::string folder = absl::StrCat("class/infiniband/", name);
  RdmaPort device;
  device.device = name;
  device.pci_function = sysfs.link_name(absl::StrCat(folder, "/device"));
  device.board = sysfs.line(absl::StrCat(folder, "/sys_image_guid"));
  // All zeros: unknown to the device.
  if (device.board.find_first_not_of("0:") == std::string::npos) device.board.clear();
  return device;
}

bool belongs_to(const RdmaPort& port, const std::string& interface) {
  return std::any_of(port.gids.begin(), port.gids.end(),
                     [&](const RoceGid& gid) { return gid.interface == interface; });
}

bool is_elsewhere(const RdmaPort& port, const InterfaceHardware& interface) {
  return !interface.pci_function.empty() && !port.pci_function.empty() && port.pci_function != interface.pci_function;
}

// -1 if there is none.
int gid_index_of(const RdmaPort& port, const std::string& interface, const routing::PortAddress& address, int version) {
  routing::PortAddress unscoped = address;
  unscoped.scope.clear();
  for (const RoceGid& gid : port.gids) {
    if (gid.version == version && gid.interface == interface && gid.address == unscoped) return gid.index;
  }
  return -1;
}

}  // namespace

std::string RdmaPort::name() const {
  return only ? device : absl::StrCat(device, ":", number);
}

InterfaceHardware read_interface(const Sysfs& sysfs, const std::string& name) {
  const std::string folder = absl::StrCat("class/net/", name);
  return {name, sysfs.link_name(absl::StrCat(folder, "/device")),
          index_from(sysfs.line(absl::StrCat(folder, "/dev_port"))).value_or(0)};
}

std::vector<RdmaPort> read_rdma_ports(const Sysfs& sysfs, const std::string& device_folder) {
  const std::map<std::string, std::string> files = read_device_files(sysfs);
  std::vector<RdmaPort> ports;
  for (const std::string& name : sysfs.names("class/infiniband", kMaxDevices)) {
    RdmaPort port = read_device(sysfs, name);
    port.trouble = why_no_access(name, files, device_folder);
    std::vector<int> numbers = read_numbers(sysfs, absl::StrCat("class/infiniband/", name, "/ports"), UINT8_MAX);
    port.only = numbers.size() == 1;
    numbers.resize(std::min(numbers.size(), kMaxPorts));
    for (const int number : numbers) {
      const std::string folder = absl::StrCat("class/infiniband/", name, "/ports/", number);
      port.number = static_cast<std::uint8_t>(number);
      port.link_layer = sysfs.line(absl::StrCat(folder, "/link_layer"));
      if (!port.is_ethernet() && port.link_layer != "InfiniBand") continue;
      port.state = sysfs.line(absl::StrCat(folder, "/state"));
      port.gids = port.is_ethernet() ? read_gids(sysfs, folder) : std::vector<RoceGid>();
      ports.push_back(port);
    }
  }
  return ports;
}

const RdmaPort* rdma_port_of(const std::vector<RdmaPort>& ports, const InterfaceHardware& interface) {
  for (const RdmaPort& port : ports) {
    if (!is_elsewhere(port, interface) && belongs_to(port, interface.name)) return &port;
  }
  for (const RdmaPort& port : ports) {
    if (interface.pci_function.empty() || port.pci_function != interface.pci_function) continue;
    if (port.only || port.number == interface.port + 1) return &port;
  }
  return nullptr;
}

absl::StatusOr<int> usable_gid(const RdmaPort& port, const std::string& interface,
                               const routing::PortAddress& address) {
  const std::string subject = absl::StrCat("RDMA device ", port.name(), " behind ", interface);
  if (!port.is_ethernet()) {
    return absl::FailedPreconditionError(
        absl::StrCat(subject, " is on ", port.link_layer, "; Cableway uses only RDMA over Ethernet (RoCE v2)"));
  }
  if (!port.trouble.empty()) return absl::FailedPreconditionError(port.trouble);
  if (!port.is_active()) {
    return absl::FailedPreconditionError(absl::StrCat(subject, " is not active; its state is \"", port.state, "\""));
  }
  if (const int index = gid_index_of(port, interface, address, 2); index >= 0) return index;
  const bool has_older = gid_index_of(port, interface, address, 1) >= 0;
  return absl::FailedPreconditionError(
      absl::StrCat(subject, " has no RoCE v2 GID for ", to_text(address), has_older ? ", only one of RoCE v1" : ""));
}

// Space that the kernel's drivers reserve for headers: IPv6, UDP and the InfiniBand transport with all extensions.
std::uint32_t roce_mtu_of(std::uint64_t ethernet_mtu) {
  constexpr std::uint64_t kHeaders = 96;
  for (const std::uint32_t mtu : {4096U, 2048U, 1024U, 512U, 256U}) {
    if (ethernet_mtu >= mtu + kHeaders) return mtu;
  }
  return 0;
}

}  // namespace cableway::host
