// An adapter moves data of RDMA without the kernel, so that the interface's counters do not have it. The device's own
// do: counters/port_rcv_data and port_xmit_data. What they count, by the kernel's drivers:
// - mlx5: the octets of RDMA packets of the function (drivers/infiniband/hw/mlx5/mad.c: the sums of the vport's
//   received_ib_* and transmitted_ib_*, which ethtool shows as rx_vport_rdma_unicast_bytes). The interface counts its
//   own queues (en_main.c, mlx5e_get_stats), so no byte is in both. One exception: in switchdev mode the interface of
//   the uplink counts the whole connector, but its RDMA device then offers raw packets alone (main.c,
//   mlx5_port_rep_immutable) and no RoCE.
// - Soft-RoCE and siw have no such counters, or files with "N/A (no PMA)": their packets pass through the interface,
//   which counts them.
// - Adapters of other kinds may have none either (irdma): their bytes over RDMA stay unknown.
// That firmware counts so was not checked on an adapter (docs/hardware.md, step 4a).
#include "core/linux/ports/port_traffic.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/linux/os/interface_traffic.h"

namespace cableway::host {
namespace {

// As the InfiniBand specification defines PortXmitData and PortRcvData.
constexpr std::uint64_t kBytesPerUnit = 4;
constexpr std::chrono::seconds kEndLimit{1};

std::optional<std::uint64_t> read_bytes(const Sysfs& sysfs, const std::string& port_folder, const char* counter) {
  std::uint64_t units = 0;
  if (!absl::SimpleAtoi(sysfs.line(absl::StrCat(port_folder, "/counters/", counter)), &units)) return std::nullopt;
  // The product would overflow. A device that does not count sets all bits.
  if (units > std::numeric_limits<std::uint64_t>::max() / kBytesPerUnit) return std::nullopt;
  return units * kBytesPerUnit;
}

// "mlx4_0:2" or "mlx5_0", whose only port is 1.
std::string folder_of(const std::string& rdma_device) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(rdma_device, absl::MaxSplits(':', 1));
  return absl::StrCat("class/infiniband/", parts.first, "/ports/", parts.second.empty() ? "1" : parts.second);
}

// Of VLANs on one adapter, say: whose bytes they were is not known.
bool is_shared(const std::string& rdma_device, const std::vector<PortFacts>& ports) {
  return std::count_if(ports.begin(), ports.end(),
                       [&](const PortFacts& port) { return port.rdma_device == rdma_device; }) > 1;
}

}  // namespace

void add_rdma_bytes(const Sysfs& sysfs, const std::vector<PortFacts>& ports, HostTraffic& traffic) {
  for (const PortFacts& port : ports) {
    const auto interface = traffic.find(port.interface);
    if (interface == traffic.end() || port.rdma_device.empty() || is_shared(port.rdma_device, ports)) continue;
    const std::string folder = folder_of(port.rdma_device);
    // On InfiniBand the device counts the interface's packets too.
    if (sysfs.line(absl::StrCat(folder, "/link_layer")) != "Ethernet") continue;
    interface->second.received.rdma_bytes = read_bytes(sysfs, folder, "port_rcv_data");
    interface->second.sent.rdma_bytes = read_bytes(sysfs, folder, "port_xmit_data");
  }
}

// What both threads share.
struct PortTraffic::Devices {
  using Clock = std::chrono::steady_clock;

  explicit Devices(AddRdmaBytes with) : add(std::move(with)) {}

  const AddRdmaBytes add;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool is_asked = false;  // and has not answered yet
  bool is_ending = false;
  bool has_ended = false;
  bool is_slow = false;  // the last answer took longer than kPatience
  std::vector<PortFacts> ports;
  HostTraffic answer;  // the last one
  std::optional<Clock::time_point> answered;

  void answer_requests() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return is_asked || is_ending; });
      if (is_ending) break;
      answer_one(lock);
    }
    has_ended = true;
    changed.notify_all();
  }

  void answer_one(std::unique_lock<std::mutex>& lock) {
    const std::vector<PortFacts> wanted = ports;
    const Clock::time_point begun = Clock::now();
    lock.unlock();
    HostTraffic rdma;
    for (const PortFacts& port : wanted) rdma[port.interface];
    add(wanted, rdma);
    lock.lock();
    answer = std::move(rdma);
    answered = Clock::now();
    is_slow = *answered - begun > kPatience;
    is_asked = false;
    changed.notify_all();
  }

  void add_answer(const std::vector<PortFacts>& wanted, HostTraffic& traffic) {
    std::unique_lock lock(mutex);
    if (!is_asked) {
      is_asked = true;
      ports = wanted;
      changed.notify_all();
      if (!is_slow) is_slow = !changed.wait_for(lock, kPatience, [this] { return !is_asked; });
    }
    if (!answered || Clock::now() - *answered > kFresh) return;
    for (auto& [interface, counts] : traffic) {
      const auto found = answer.find(interface);
      if (found == answer.end()) continue;
      counts.received.rdma_bytes = found->second.received.rdma_bytes;
      counts.sent.rdma_bytes = found->second.sent.rdma_bytes;
    }
  }
};

PortTraffic::PortTraffic(AddRdmaBytes add) : devices_(std::make_shared<Devices>(std::move(add))) {}

PortTraffic::~PortTraffic() {
  std::unique_lock lock(devices_->mutex);
  devices_->is_ending = true;
  devices_->changed.notify_all();
  if (has_thread_) devices_->changed.wait_for(lock, kEndLimit, [this] { return devices_->has_ended; });
}

HostTraffic PortTraffic::read(const std::vector<PortFacts>& ports) {
  HostTraffic traffic = read_interface_traffic();
  if (std::none_of(ports.begin(), ports.end(), [](const PortFacts& port) { return !port.rdma_device.empty(); })) {
    return traffic;
  }
  if (!has_thread_) {
    try {
      std::thread([devices = devices_] { devices->answer_requests(); }).detach();
      has_thread_ = true;
    } catch (const std::system_error&) {
      return traffic;  // this host has no room for a thread now
    }
  }
  devices_->add_answer(ports, traffic);
  return traffic;
}

}  // namespace cableway::host
