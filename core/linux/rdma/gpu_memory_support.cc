#include "core/linux/rdma/gpu_memory_support.h"

#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/random_value.h"
#include "core/linux/rdma/verbs_connection.h"
#include "core/linux/rdma/verbs_devices.h"
#include "core/linux/rdma/verbs_flush.h"
#include "routing/topology/port_address.h"

namespace cableway::host {
namespace {

// The vendor ID of NVIDIA, whose adapters' driver uses the module. A loaded module does not imply support by other
// drivers: soft-RoCE treats a GPU address as a page of this process.
constexpr std::uint32_t kVendorWithPeerMemory = 0x02c9;
constexpr std::chrono::seconds kReadLimit{2};
constexpr std::size_t kProbeBytes = 4096;

struct PortDevice {
  std::shared_ptr<VerbsDevice> device;
  VerbsGid gid;
};

// Each of these files exists while a module that translates GPU pages is registered.
bool peer_memory_module_is_loaded(const Sysfs& sysfs) {
  for (const char* file : {"module/nvidia_peermem/version", "kernel/mm/memory_peers/nv_mem/version",
                           "kernel/mm/memory_peers/nv_mem_nc/version"}) {
    if (!sysfs.line(file).empty()) return true;
  }
  return false;
}

absl::StatusOr<std::shared_ptr<VerbsDevice>> open_device(const std::string& name, const GpuMemoryHost& host) {
  if (host.open) return host.open(name);
  absl::StatusOr<VerbsDevices::Numbered> opened = VerbsDevices::of_this_process().open(name);
  if (!opened.ok()) return opened.status();
  return opened->device;
}

absl::StatusOr<PortDevice> device_behind(const std::string& address, const GpuMemoryHost& host) {
  const absl::StatusOr<routing::PortAddress> parsed = routing::parse_port_address(address);
  if (!parsed.ok()) return parsed.status();
  const absl::StatusOr<std::optional<VerbsPort>> port = verbs_port_of(*parsed, host.verbs);
  if (!port.ok()) return port.status();
  if (!port->has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("the port with address ", address, " has no RDMA device"));
  }
  absl::StatusOr<std::shared_ptr<VerbsDevice>> device = open_device((*port)->device, host);
  if (!device.ok()) return device.status();
  return PortDevice{*std::move(device), (*port)->gid};
}

// Reads this process's own memory in the same way as GPU memory.
absl::Status try_to_read(const PortDevice& port, const VerbsOptions& options) {
  absl::StatusOr<MappedPages> pages = MappedPages::create(kProbeBytes);
  if (!pages.ok()) return pages.status();
  std::byte* const data = pages->bytes().data();
  const auto memory = VerbsMemory::add(port.device, data, kProbeBytes, {.remote_write = true, .remote_read = true});
  if (!memory.ok()) return memory.status();
  const auto flush = VerbsFlush::create(port.device, port.gid, random_packet_sequence(), options);
  if (!flush.ok()) return flush.status();
  const auto number = (*flush)->read(reinterpret_cast<std::uintptr_t>(data), (*memory)->keys().remote);
  if (!number.ok()) return number.status();
  const auto until = std::chrono::steady_clock::now() + kReadLimit;
  while (std::chrono::steady_clock::now() < until) {
    const absl::StatusOr<bool> done = (*flush)->done(*number);
    if (!done.ok()) return done.status();
    if (*done) return absl::OkStatus();
    std::this_thread::yield();
  }
  return absl::DeadlineExceededError(
      absl::StrCat("RDMA device ", port.device->name(), " did not read memory of its own host within 2 s"));
}

GpuMemorySupport none(absl::string_view why) {
  return {.why_not = std::string(why)};
}

}  // namespace

GpuMemorySupport gpu_memory_support(const std::vector<std::string>& addresses, const Settings& settings,
                                    const GpuMemoryHost& host) {
  if (settings.transport != TransportSetting::kVerbs) {
    return none(
        "CABLEWAY_TRANSPORT is not verbs, so a flow's hop may go over TCP, which cannot carry the memory of GPUs");
  }
  if (addresses.empty()) return none("this node has no cable port with an address");
  std::string no_dmabuf;
  std::string no_peer_memory;
  if (!peer_memory_module_is_loaded(host.verbs.sysfs)) {
    no_peer_memory = "the kernel's nvidia_peermem module is not loaded";
  }
  std::set<std::shared_ptr<VerbsDevice>> seen;
  for (const std::string& address : addresses) {
    const absl::StatusOr<PortDevice> port = device_behind(address, host);
    if (!port.ok()) return none(port.status().message());
    const VerbsDevice& device = *port->device;
    if (!seen.insert(port->device).second) continue;
    if (no_dmabuf.empty() && !device.supports_dmabuf()) {
      no_dmabuf = absl::StrCat("RDMA device ", device.name(), " or this kernel cannot register dmabufs");
    }
    if (no_peer_memory.empty() && device.vendor_id() != kVendorWithPeerMemory) {
      no_peer_memory = absl::StrCat("nvidia_peermem does not work with RDMA device ", device.name());
    }
    if (!no_dmabuf.empty() && !no_peer_memory.empty()) return none(absl::StrCat(no_dmabuf, ", and ", no_peer_memory));
    if (absl::Status read = try_to_read(*port, verbs_options(settings)); !read.ok()) return none(read.message());
  }
  return {.dmabuf = no_dmabuf.empty(), .peer_memory = no_peer_memory.empty(), .why_not = ""};
}

}  // namespace cableway::host
