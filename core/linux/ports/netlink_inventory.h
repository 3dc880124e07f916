// The ports of a Linux host: rtnetlink tells of interfaces and addresses, sysfs of their hardware.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/discovery/port_inventory.h"
#include "core/discovery/port_selector.h"
#include "core/event/event_sink.h"
#include "core/linux/ports/rdma_watch.h"
#include "core/linux/rdma/rdma_ports.h"

namespace cableway::host {

// Follows the host: what rtnetlink says is applied at once, one `changed` for all that had come. sysfs tells nobody of
// RDMA devices: they are read again several times within half a minute after each change of an interface, since their
// own changes follow those. After follow_devices() also when one of their files comes or goes, and at once when one of
// them says something. Nothing wakes a host on which nothing happens. Lives on the thread that runs `io`.
class NetlinkInventory final : public PortInventory {
 public:
  // Has read everything when it returns. No selectors: the RoCE interfaces. See port_selection.h for the rules.
  // Unavailable where this system has no rtnetlink.
  static absl::StatusOr<std::unique_ptr<NetlinkInventory>> open(boost::asio::io_context& io,
                                                                std::vector<PortSelector> selectors,
                                                                std::string sysfs_root = "/sys",
                                                                std::string rdma_folder = kRdmaDeviceFolder);
  ~NetlinkInventory() override;

  std::vector<PortFacts> ports() const override;
  std::vector<RejectedPort> rejected() const override;
  void watch(std::function<void()> changed) override;
  // From now on the RDMA devices that are behind ports, or were, are held open, and asked. What they say of each port
  // is raised as an event, "port eth1: RDMA device mlx5_0: port error", before `changed` is called for it; neither
  // happens within this, except for devices that cannot be used as it begins. A status: devices that come or go are
  // noticed with the next change of an interface only; all else is followed. `events` is there whenever `io` runs.
  absl::Status follow_devices(RdmaWatch::Open open, EventSink& events);
  // Why there is no port and what to do about it; empty where there is one.
  std::string status() const;

 private:
  struct State;
  explicit NetlinkInventory(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_INVENTORY_H_
