#include "core/linux/rdma_devices.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::linux_ {
namespace {

constexpr std::size_t kMostDevices = 256;
constexpr std::size_t kMostGids = 4096;
// The kernel gives a new address the first place that is free, so behind so many free ones there is nothing. To look
// into all of a table of a thousand takes longer than a set-up may.
constexpr int kMostFreePlaces = 64;

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

// Of a port's table, in their order.
std::vector<int> read_places(const Sysfs& sysfs, const std::string& port) {
  std::vector<int> places;
  for (const std::string& name : sysfs.names(absl::StrCat(port, "/gid_attrs/ndevs"), kMostGids)) {
    if (const std::optional<int> index = index_from(name); index.has_value()) places.push_back(*index);
  }
  std::sort(places.begin(), places.end());
  return places;
}

// The RoCE v2 ones. Places of the table that hold none cannot be read, or are all zeros.
std::vector<RoceGid> read_gids(const Sysfs& sysfs, const std::string& port) {
  std::vector<RoceGid> gids;
  int last_taken = -1;
  for (const int index : read_places(sysfs, port)) {
    if (index > last_taken + kMostFreePlaces) break;
    const std::string interface = sysfs.line(absl::StrCat(port, "/gid_attrs/ndevs/", index));
    if (interface.empty()) continue;
    last_taken = index;
    if (sysfs.line(absl::StrCat(port, "/gid_attrs/types/", index)) != "RoCE v2") continue;
    const auto address = address_from_gid(sysfs.line(absl::StrCat(port, "/gids/", index)));
    if (address.has_value()) gids.push_back(RoceGid{index, interface, *address});
  }
  return gids;
}

bool belongs_to(const RdmaDevice& device, const std::string& interface) {
  return std::any_of(device.gids.begin(), device.gids.end(),
                     [&](const RoceGid& gid) { return gid.interface == interface; });
}

}  // namespace

std::vector<RdmaDevice> read_rdma_devices(const Sysfs& sysfs) {
  std::vector<RdmaDevice> devices;
  for (const std::string& name : sysfs.names("class/infiniband", kMostDevices)) {
    const std::string folder = absl::StrCat("class/infiniband/", name);
    const std::string port = absl::StrCat(folder, "/ports/1");
    if (sysfs.line(absl::StrCat(port, "/link_layer")) != "Ethernet") continue;
    RdmaDevice device;
    device.name = name;
    device.state = sysfs.line(absl::StrCat(port, "/state"));
    device.pci_function = sysfs.link_name(absl::StrCat(folder, "/device"));
    device.board = sysfs.line(absl::StrCat(folder, "/sys_image_guid"));
    // All zeros: the device does not know.
    if (device.board.find_first_not_of("0:") == std::string::npos) device.board.clear();
    device.gids = read_gids(sysfs, port);
    devices.push_back(std::move(device));
  }
  return devices;
}

const RdmaDevice* rdma_device_of(const std::vector<RdmaDevice>& devices, const std::string& interface,
                                 const std::string& pci_function) {
  const auto is_elsewhere = [&](const RdmaDevice& device) {
    return !pci_function.empty() && !device.pci_function.empty() && device.pci_function != pci_function;
  };
  for (const RdmaDevice& device : devices) {
    if (!is_elsewhere(device) && belongs_to(device, interface)) return &device;
  }
  for (const RdmaDevice& device : devices) {
    if (!pci_function.empty() && device.pci_function == pci_function) return &device;
  }
  return nullptr;
}

int gid_index_of(const RdmaDevice& device, const std::string& interface, const routing::PortAddress& address) {
  routing::PortAddress unscoped = address;
  unscoped.scope.clear();
  for (const RoceGid& gid : device.gids) {
    if (gid.interface == interface && gid.address == unscoped) return gid.index;
  }
  return -1;
}

}  // namespace cableway::linux_
