// What the kernel counts of a node's ports: their interfaces, and the RDMA devices behind them.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
#define CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/linux/os/sysfs.h"
#include "core/metrics/host_measures.h"
#include "core/ports/port_inventory.h"

namespace cableway::host {

// Adds the bytes over RDMA to the interfaces of `ports`, from two small files of each. None for a port without a
// device, whose device has no such counters or is on InfiniBand, or shares it with another port. An adapter's firmware
// answers these files, so this may take as long as a sick one does.
void add_rdma_bytes(const Sysfs& sysfs, const std::vector<PortFacts>& ports, HostTraffic& traffic);

// Reads the counters of interfaces on the caller's thread, those of RDMA devices on one of its own, which starts with
// the first port that has a device.
class PortTraffic {
 public:
  // How long a node waits for its devices.
  static constexpr Duration kPatience = std::chrono::milliseconds(20);
  using AddRdmaBytes = std::function<void(const std::vector<PortFacts>& ports, HostTraffic& traffic)>;

  // Tests have devices of their own. Their function is called on another thread.
  explicit PortTraffic(AddRdmaBytes add = [](const std::vector<PortFacts>& ports, HostTraffic& traffic) {
    add_rdma_bytes(Sysfs(), ports, traffic);
  });
  ~PortTraffic();  // waits for the devices' answer
  PortTraffic(const PortTraffic&) = delete;
  PortTraffic& operator=(const PortTraffic&) = delete;

  // The interfaces of this network, with bytes over RDMA for `ports`. Waits for kPatience at most, and not at all while
  // devices have not answered an earlier call: until they have, no port's bytes over RDMA are known. For one thread.
  HostTraffic read(const std::vector<PortFacts>& ports);

 private:
  void answer_requests();
  void add_answer(const std::vector<PortFacts>& ports, HostTraffic& traffic);

  const AddRdmaBytes add_;
  std::mutex mutex_;  // of what follows, but for the thread
  std::condition_variable changed_;
  bool is_asked_ = false;  // and not answered yet
  bool is_ending_ = false;
  std::vector<PortFacts> ports_;
  HostTraffic rdma_;
  std::thread thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PORT_TRAFFIC_H_
