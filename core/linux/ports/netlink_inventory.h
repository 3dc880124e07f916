// The ports of a Linux host: interfaces and addresses from rtnetlink, their hardware from sysfs.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_sink.h"
#include "core/linux/ports/rdma_watch.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/ports/port_inventory.h"
#include "core/ports/port_lost.h"
#include "core/ports/port_selector.h"

namespace cableway::host {

inline std::vector<std::chrono::milliseconds> reread_delays() {
  using std::chrono::milliseconds;
  return {milliseconds(20),   milliseconds(200),   milliseconds(1000),
          milliseconds(5000), milliseconds(25000), milliseconds(60000)};
}

// Follows the host: applies rtnetlink messages at once, with one call of `changed` for all that have arrived. sysfs
// sends no notifications about RDMA devices and PCIe links: they are re-read several times within half a minute after
// each change of an interface, since their changes follow those, and then once a minute. After follow_devices() they
// are also re-read when one of their files is created or removed, and at once when one of them raises an event. Lives
// on the thread that runs `io`.
class NetlinkInventory final : public PortInventory {
 public:
  // Everything has been read when it returns. Without selectors: the RoCE interfaces. See port_selection.h for the
  // rules. `rereads`: delays of the re-reads of devices, each counted from the change or the re-read before; the last
  // one repeats. Unavailable if this system has no rtnetlink.
  static absl::StatusOr<std::unique_ptr<NetlinkInventory>> open(
      boost::asio::io_context& io, std::vector<PortSelector> selectors, std::string sysfs_root = "/sys",
      std::string rdma_folder = kRdmaDeviceFolder, std::vector<std::chrono::milliseconds> rereads = reread_delays());
  ~NetlinkInventory() override;

  std::vector<PortFacts> ports() const override;
  std::vector<RejectedPort> rejected() const override;
  void watch(std::function<void()> changed) override;
  // `lost` is called at once for each port that stops carrying data, before `changed` and before anything is read:
  // when its interface loses its carrier, is set down or is deleted; and, after follow_devices(), when its RDMA
  // device or that device's port fails. Also called if the port is back by then. It must not destroy the inventory.
  void watch_losses(std::function<void(const PortLost&)> lost);
  // From now on the RDMA devices that are or were behind ports are held open and queried. Their reports about each
  // port are raised as events, "port eth1: RDMA device mlx5_0: port error", before `changed` is called for them.
  // Neither happens inside this call, except for devices that are already unusable. On error, added or removed
  // devices are noticed only with the next change of an interface; everything else is followed. `events` must be
  // valid whenever `io` runs.
  absl::Status follow_devices(RdmaWatch::Open open, EventSink& events);
  // Why there is no port, and the remedy; empty if there is one.
  std::string status() const;

 private:
  struct State;
  explicit NetlinkInventory(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_
