#include "core/linux/ports/netlink_inventory.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/folder_watch.h"
#include "core/linux/os/sysfs.h"
#include "core/linux/ports/netlink_watch.h"
#include "core/linux/ports/port_selection.h"

namespace cableway::host {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

// The kernel reports an unknown rate as -1 or not at all.
std::uint64_t read_rate(const Sysfs& sysfs, const std::string& interface) {
  std::uint64_t rate = 0;
  const std::string text = sysfs.line(absl::StrCat("class/net/", interface, "/speed"));
  return absl::SimpleAtoi(text, &rate) && rate < UINT32_MAX ? rate : 0;
}

std::vector<RejectedPort> requested(const std::vector<RejectedPort>& rejected) {
  std::vector<RejectedPort> result;
  std::copy_if(rejected.begin(), rejected.end(), std::back_inserter(result),
               [](const RejectedPort& each) { return each.requested; });
  return result;
}

// The devices behind ports that processes of this host can use.
std::set<std::string> devices_behind(const std::vector<PortFacts>& ports, const std::vector<RdmaPort>& rdma) {
  std::set<std::string> devices;
  for (const RdmaPort& each : rdma) {
    const bool behind =
        std::any_of(ports.begin(), ports.end(), [&](const PortFacts& port) { return port.rdma_device == each.name(); });
    if (behind && each.is_ethernet() && each.trouble.empty()) devices.insert(each.device);
  }
  return devices;
}

EventCode code_of(VerbsEvent::Kind kind) {
  switch (kind) {
    case VerbsEvent::Kind::kPortError:
      return EventCode::kRdmaPortError;
    case VerbsEvent::Kind::kPortActive:
      return EventCode::kRdmaPortActive;
    case VerbsEvent::Kind::kGidChange:
      return EventCode::kRdmaAddressChanged;
    case VerbsEvent::Kind::kDeviceFatal:
    case VerbsEvent::Kind::kQueueFatal:
    case VerbsEvent::Kind::kOther:
      break;
  }
  return EventCode::kRdmaDeviceFailed;
}

bool is_loss(VerbsEvent::Kind kind) {
  return kind == VerbsEvent::Kind::kPortError || kind == VerbsEvent::Kind::kDeviceFatal;
}

// A removed device's name comes from the earlier facts.
const std::string& device_of(const PortFacts& port, const PortFacts& before) {
  return port.rdma_device.empty() ? before.rdma_device : port.rdma_device;
}

}  // namespace

struct NetlinkInventory::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, std::vector<PortSelector> chosen, std::string sysfs_root, std::string folder,
        std::vector<milliseconds> delays)
      : io(context),
        selectors(std::move(chosen)),
        sysfs(std::move(sysfs_root)),
        rdma_folder(std::move(folder)),
        reread_delays(std::move(delays)),
        reread_timer(context) {}

  boost::asio::io_context& io;
  const std::vector<PortSelector> selectors;
  const Sysfs sysfs;
  const std::string rdma_folder;
  const std::vector<milliseconds> reread_delays;
  boost::asio::steady_timer reread_timer;
  std::size_t next_reread = 0;
  bool reread_is_armed = false;
  std::unique_ptr<NetlinkWatch> watch;
  std::map<PortId, std::uint64_t> read_at;  // revision of the link when sysfs was read for it
  DeviceFacts devices;                      // as reported by sysfs
  PortSelection selection;
  std::function<void()> changed;
  std::function<void(const PortLost&)> lost = [](const PortLost&) {};
  std::map<PortId, std::string> last_device;  // the last device behind each port
  std::map<PortId, std::string> port_names;   // of the links that exist and have been ports
  std::set<std::string> followed;             // devices, by rdma_watch
  std::unique_ptr<RdmaWatch> rdma_watch;
  std::unique_ptr<FolderWatch> device_files;
  EventSink* events = nullptr;  // null until devices are followed

  void read_interfaces();
  void read_devices();
  PortSelection select();
  void name_removed_devices(std::vector<PortFacts>& ports);
  void on_device_events(const std::string& device, const std::vector<VerbsEvent>& reported);
  void report_troubles(const std::vector<PortFacts>& ports);
  void raise(EventCode code, const PortFacts& port, const std::string& device, const std::string& words);
  void rebuild();
  void lose_link(const LinkLoss& loss) const;
  void network_changed();
  void reread_soon() {
    next_reread = 0;
    arm_reread();
  }
  void arm_reread();
};

// Reads only links with new messages from the kernel: reading the rate takes a kernel lock in the driver that may be
// held for long. A link without carrier has no rate and is not queried.
void NetlinkInventory::State::read_interfaces() {
  const std::map<PortId, KernelLink>& links = watch->network().links;
  std::erase_if(read_at, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.rates_mbps, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.pci_functions, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.function_ports, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.pcie_links, [&](const auto& entry) { return !links.contains(entry.first); });
  for (const auto& [id, link] : links) {
    std::uint64_t& revision = read_at[id];
    if (revision == link.revision) continue;
    revision = link.revision;
    const InterfaceHardware hardware = read_interface(sysfs, link.name);
    devices.pci_functions[id] = hardware.pci_function;
    devices.function_ports[id] = hardware.port;
    devices.rates_mbps[id] = link.carrier ? read_rate(sysfs, link.name) : 0;
    devices.pcie_links[id] = read_pcie_link(sysfs, link.name);
  }
}

// Includes the PCIe links, which may be trained to another width or speed without a netlink message.
void NetlinkInventory::State::read_devices() {
  devices.rdma = read_rdma_ports(sysfs, rdma_folder);
  for (const auto& [id, link] : watch->network().links) {
    const auto function = devices.pci_functions.find(id);
    const bool is_hardware = function != devices.pci_functions.end() && !function->second.empty();
    if (is_hardware) devices.pcie_links[id] = read_pcie_link(sysfs, link.name);
  }
}

// Includes the reports of the open devices themselves.
PortSelection NetlinkInventory::State::select() {
  PortSelection found = select_ports(watch->network(), devices, selectors);
  if (rdma_watch != nullptr) {
    // A device whose port has just been lost is followed while it exists, since its events end its hops.
    std::set<std::string> wanted = devices_behind(found.ports, devices.rdma);
    for (const RdmaPort& each : devices.rdma) {
      if (followed.contains(each.device) && each.trouble.empty()) wanted.insert(each.device);
    }
    followed = std::move(wanted);
    rdma_watch->follow(followed);
    DeviceFacts queried = devices;
    for (RdmaPort& port : queried.rdma) {
      if (port.trouble.empty()) port.trouble = rdma_watch->trouble(port.device);
      port.mtu = rdma_watch->active_mtu(port.device, port.number);
    }
    found = select_ports(watch->network(), queried, selectors);
  }
  name_removed_devices(found.ports);
  return found;
}

// Reports the fault of ports that had a device and have none now.
void NetlinkInventory::State::name_removed_devices(std::vector<PortFacts>& ports) {
  for (const PortFacts& before : selection.ports) {
    if (!before.rdma_device.empty()) last_device[before.id] = before.rdma_device;
  }
  std::erase_if(last_device, [&](const auto& entry) { return !watch->network().links.contains(entry.first); });
  for (PortFacts& port : ports) {
    const auto last = last_device.find(port.id);
    if (!port.rdma_device.empty() || last == last_device.end()) continue;
    port.rdma_trouble = absl::StrCat("RDMA device ", last->second, " behind ", port.interface, " is gone");
  }
}

void NetlinkInventory::State::raise(EventCode code, const PortFacts& port, const std::string& device,
                                    const std::string& words) {
  if (events == nullptr) return;
  events->raise(code, absl::StrCat("port ", port.interface, ": ", words),
                {{"port", port.interface}, {"device", device}, {"reason", words}});
}

// An event of one port of a multi-port device is reported only for the interface that the port is behind.
void NetlinkInventory::State::on_device_events(const std::string& device, const std::vector<VerbsEvent>& reported) {
  const auto self = shared_from_this();
  for (const VerbsEvent& event : reported) {
    for (const RdmaPort& port : devices.rdma) {
      if (port.device != device || (event.port != 0 && event.port != port.number)) continue;
      for (const PortFacts& facts : selection.ports) {
        if (facts.rdma_device != port.name()) continue;
        if (is_loss(event.kind)) lost({facts.interface, event.words, true});
        raise(code_of(event.kind), facts, device, event.words);
      }
    }
  }
  read_devices();
  // sysfs may change a little later.
  reread_soon();
  rebuild();
}

void NetlinkInventory::State::report_troubles(const std::vector<PortFacts>& ports) {
  for (const PortFacts& port : ports) {
    const auto before = std::find_if(selection.ports.begin(), selection.ports.end(),
                                     [&](const PortFacts& each) { return each.id == port.id; });
    const bool is_new = before == selection.ports.end();
    if ((is_new ? "" : before->rdma_trouble) == port.rdma_trouble) continue;
    if (port.rdma_trouble.empty()) {
      raise(EventCode::kRdmaDeviceUsable, port, port.rdma_device,
            absl::StrCat("RDMA device ", port.rdma_device, " can be used"));
    } else {
      raise(EventCode::kRdmaDeviceUnusable, port, is_new ? port.rdma_device : device_of(port, *before),
            port.rdma_trouble);
    }
  }
}

void NetlinkInventory::State::rebuild() {
  const std::set<std::string> followed_before = followed;
  PortSelection found = select();
  report_troubles(found.ports);
  // A change of followed devices is reported, too: the owner of memory on a device no longer followed must release it.
  const bool differs = found.ports != selection.ports || requested(found.rejected) != requested(selection.rejected) ||
                       followed != followed_before;
  selection = std::move(found);
  std::erase_if(port_names, [&](const auto& named) { return !watch->network().links.contains(named.first); });
  for (const PortFacts& port : selection.ports) port_names.insert_or_assign(port.id, port.interface);
  if (!differs || !changed) return;
  // A copy, because the call may destroy the inventory.
  const auto call = changed;
  call();
}

void NetlinkInventory::State::lose_link(const LinkLoss& loss) const {
  // Includes an interface that is no longer a port because its addresses were removed first: circuits over it remain.
  if (const auto port = port_names.find(loss.link); port != port_names.end()) lost({port->second, loss.reason});
}

void NetlinkInventory::State::network_changed() {
  const auto self = shared_from_this();
  read_interfaces();
  reread_soon();
  rebuild();
}

// An earlier pending re-read replaces the first one after this change.
void NetlinkInventory::State::arm_reread() {
  const auto when = std::chrono::steady_clock::now() + reread_delays[next_reread];
  if (reread_is_armed && reread_timer.expiry() <= when) return;
  reread_is_armed = true;
  reread_timer.expires_at(when);
  reread_timer.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (stopped || !self || !self->watch) return;
    self->reread_is_armed = false;
    self->next_reread = std::min(self->next_reread + 1, self->reread_delays.size() - 1);
    self->arm_reread();
    self->read_devices();
    self->rebuild();
  });
}

absl::StatusOr<std::unique_ptr<NetlinkInventory>> NetlinkInventory::open(boost::asio::io_context& io,
                                                                         std::vector<PortSelector> selectors,
                                                                         std::string sysfs_root,
                                                                         std::string rdma_folder,
                                                                         std::vector<milliseconds> rereads) {
  auto state = std::make_shared<State>(io, std::move(selectors), std::move(sysfs_root), std::move(rdma_folder),
                                       std::move(rereads));
  absl::StatusOr<std::unique_ptr<NetlinkWatch>> watch = NetlinkWatch::start(
      io, [raw = state.get()] { raw->network_changed(); },
      [raw = state.get()](const LinkLoss& loss) { raw->lose_link(loss); });
  if (!watch.ok()) return watch.status();
  state->watch = *std::move(watch);
  state->read_devices();
  state->network_changed();
  return std::unique_ptr<NetlinkInventory>(new NetlinkInventory(std::move(state)));
}

NetlinkInventory::NetlinkInventory(std::shared_ptr<State> state) : state_(std::move(state)) {}

NetlinkInventory::~NetlinkInventory() {
  state_->changed = nullptr;
  state_->events = nullptr;
  state_->rdma_watch.reset();
  state_->device_files.reset();
  state_->reread_timer.cancel();
  state_->watch.reset();
}

std::vector<PortFacts> NetlinkInventory::ports() const {
  return state_->selection.ports;
}

std::vector<RejectedPort> NetlinkInventory::rejected() const {
  return state_->selection.rejected;
}

std::string NetlinkInventory::status() const {
  return state_->selection.status;
}

void NetlinkInventory::watch(std::function<void()> changed) {
  state_->changed = std::move(changed);
}

void NetlinkInventory::watch_losses(std::function<void(const PortLost&)> lost) {
  state_->lost = std::move(lost);
}

absl::Status NetlinkInventory::follow_devices(RdmaWatch::Open open, EventSink& events) {
  State* const state = state_.get();
  state->events = &events;
  state->rdma_watch = std::make_unique<RdmaWatch>(
      state->io, std::move(open), [state](const std::string& device, const std::vector<VerbsEvent>& reported) {
        state->on_device_events(device, reported);
      });
  state->selection = state->select();
  for (const PortFacts& port : state->selection.ports) {
    if (port.rdma_trouble.empty()) continue;
    state->raise(EventCode::kRdmaDeviceUnusable, port, port.rdma_device, port.rdma_trouble);
  }
  absl::StatusOr<std::unique_ptr<FolderWatch>> files =
      FolderWatch::start(state->io, state->rdma_folder, [state] { state->reread_soon(); });
  // A host without devices has no folder.
  if (absl::IsNotFound(files.status())) return absl::OkStatus();
  if (!files.ok()) return files.status();
  state->device_files = *std::move(files);
  return absl::OkStatus();
}

}  // namespace cableway::host
