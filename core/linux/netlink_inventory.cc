#include "core/linux/netlink_inventory.h"

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/linux/netlink_watch.h"
#include "core/linux/port_selection.h"
#include "core/linux/rdma_devices.h"
#include "core/linux/sysfs.h"

namespace cableway::linux_ {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

// When the RDMA devices are read again, after a change and then after each look.
constexpr std::array<milliseconds, 5> kLooks{milliseconds(20), milliseconds(200), milliseconds(1000),
                                             milliseconds(5000), milliseconds(25000)};

// -1, or nothing at all, is what the kernel says where it does not know.
std::uint64_t read_rate(const Sysfs& sysfs, const std::string& interface) {
  std::uint64_t rate = 0;
  const std::string text = sysfs.line(absl::StrCat("class/net/", interface, "/speed"));
  return absl::SimpleAtoi(text, &rate) && rate < UINT32_MAX ? rate : 0;
}

std::vector<RejectedPort> asked_for(const std::vector<RejectedPort>& rejected) {
  std::vector<RejectedPort> result;
  std::copy_if(rejected.begin(), rejected.end(), std::back_inserter(result),
               [](const RejectedPort& each) { return each.asked_for; });
  return result;
}

}  // namespace

struct NetlinkInventory::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, std::vector<PortSelector> chosen, std::string sysfs_root)
      : selectors(std::move(chosen)), sysfs(std::move(sysfs_root)), look(io) {}

  const std::vector<PortSelector> selectors;
  const Sysfs sysfs;
  boost::asio::steady_timer look;
  std::size_t next_look = kLooks.size();
  bool look_is_armed = false;
  std::unique_ptr<NetlinkWatch> watch;
  std::map<PortId, std::uint64_t> read_at;  // revision of the link when sysfs was read for it
  DeviceFacts devices;
  PortSelection selection;
  std::function<void()> changed;

  void read_interfaces();
  void rebuild();
  void network_changed();
  void arm_look();
};

// Only of links that the kernel said something of: the rate is asked of the driver, under a lock of the kernel's that
// may be held long. One without carrier has none, and nobody waits for it.
void NetlinkInventory::State::read_interfaces() {
  const std::map<PortId, KernelLink>& links = watch->network().links;
  std::erase_if(read_at, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.rates_mbps, [&](const auto& entry) { return !links.contains(entry.first); });
  std::erase_if(devices.pci_functions, [&](const auto& entry) { return !links.contains(entry.first); });
  for (const auto& [id, link] : links) {
    std::uint64_t& revision = read_at[id];
    if (revision == link.revision) continue;
    revision = link.revision;
    devices.pci_functions[id] = sysfs.link_name(absl::StrCat("class/net/", link.name, "/device"));
    devices.rates_mbps[id] = link.carrier ? read_rate(sysfs, link.name) : 0;
  }
}

void NetlinkInventory::State::rebuild() {
  PortSelection found = select_ports(watch->network(), devices, selectors);
  const bool differs =
      found.ports != selection.ports || asked_for(found.rejected) != asked_for(selection.rejected);
  selection = std::move(found);
  if (!differs || !changed) return;
  // A copy, because it may destroy the inventory.
  const auto call = changed;
  call();
}

void NetlinkInventory::State::network_changed() {
  const auto self = shared_from_this();
  read_interfaces();
  next_look = 0;
  arm_look();
  rebuild();
}

// A look that is due sooner than the first after this change will do for it.
void NetlinkInventory::State::arm_look() {
  if (next_look >= kLooks.size()) return;
  const auto when = std::chrono::steady_clock::now() + kLooks[next_look];
  if (look_is_armed && look.expiry() <= when) return;
  look_is_armed = true;
  look.expires_at(when);
  look.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (stopped || !self || !self->watch) return;
    self->look_is_armed = false;
    ++self->next_look;
    self->arm_look();
    self->devices.rdma = read_rdma_devices(self->sysfs);
    self->rebuild();
  });
}

absl::StatusOr<std::unique_ptr<NetlinkInventory>> NetlinkInventory::open(boost::asio::io_context& io,
                                                                         std::vector<PortSelector> selectors,
                                                                         std::string sysfs_root) {
  auto state = std::make_shared<State>(io, std::move(selectors), std::move(sysfs_root));
  absl::StatusOr<std::unique_ptr<NetlinkWatch>> watch =
      NetlinkWatch::start(io, [raw = state.get()] { raw->network_changed(); });
  if (!watch.ok()) return watch.status();
  state->watch = *std::move(watch);
  state->devices.rdma = read_rdma_devices(state->sysfs);
  state->network_changed();
  return std::unique_ptr<NetlinkInventory>(new NetlinkInventory(std::move(state)));
}

NetlinkInventory::NetlinkInventory(std::shared_ptr<State> state) : state_(std::move(state)) {}

NetlinkInventory::~NetlinkInventory() {
  state_->changed = nullptr;
  state_->look.cancel();
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

}  // namespace cableway::linux_
