// What the kernel counts of a node's ports: their interfaces, and the RDMA devices behind them.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
#define CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/linux/os/sysfs.h"
#include "core/metrics/host_measures.h"
#include "core/ports/port_inventory.h"

namespace cableway::host {

// Adds the bytes over RDMA to the interfaces of `ports`, from two small files of each. None for a port
// without a device, whose device has no such counters or is on InfiniBand, or which shares it with another port. The
// adapter's firmware answers these reads, so a faulty adapter may delay them.
void add_rdma_bytes(const Sysfs& sysfs, const std::vector<PortFacts>& ports, HostTraffic& traffic);

// Reads the counters of interfaces on the caller's thread, those of RDMA devices on one of its own, which starts with
// the first port that has a device.
class PortTraffic {
 public:
  // How long a node waits for its devices, unless their last answer took longer.
  static constexpr Duration kPatience = std::chrono::milliseconds(20);
  // An answer that is older is not used.
  static constexpr Duration kFresh = std::chrono::seconds(2);
  using AddRdmaBytes = std::function<void(const std::vector<PortFacts>& ports, HostTraffic& traffic)>;

  // Tests replace `add`. It is called on another thread.
  explicit PortTraffic(AddRdmaBytes add = [](const std::vector<PortFacts>& ports, HostTraffic& traffic) {
    add_rdma_bytes(Sysfs(), ports, traffic);
  });
  // Waits for a second at most; then the thread goes on alone until the device answers.
  ~PortTraffic();
  PortTraffic(const PortTraffic&) = delete;
  PortTraffic& operator=(const PortTraffic&) = delete;

  // The interfaces of this network, with bytes over RDMA for `ports`: those of now, or the last ones that the devices
  // have answered, or none. For one thread.
  HostTraffic read(const std::vector<PortFacts>& ports);

 private:
  struct Devices;

  const std::shared_ptr<Devices> devices_;
  bool has_thread_ = false;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
