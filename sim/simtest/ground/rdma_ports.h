// The RDMA devices of a simulation test's ports, and what a port needs to be one end of an RDMA hop.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_RDMA_PORTS_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_RDMA_PORTS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/nodes/cable_fabric.h"
#include "sim/stub_rdma/stub_network.h"

namespace cableway::sim {

// The device of one port.
struct RdmaPort {
  StubDevice* device = nullptr;
  std::size_t number = 0;  // index on its node (RegisteredSlot::keys)
};

class RdmaPorts {
 public:
  explicit RdmaPorts(const StubNetwork::Settings& settings) : network_(settings) {}

  // Gives the port at this place of the segment a device, the next one of `node`. To be called before any look-up.
  void add(CableFabric::SegmentNumber segment, std::size_t end, CableFabric::NodeNumber node);
  // Null if the port has no device.
  const RdmaPort* find(CableFabric::SegmentNumber segment, std::size_t end) const;
  // In the order of their numbers.
  const std::vector<StubDevice*>& devices_of(CableFabric::NodeNumber node) { return by_node_[node]; }
  // Keeps a queue pair that its owner has discarded, fenced, since the peer may already be connected to it.
  void abandon(std::unique_ptr<StubQueuePair> pair) {
    pair->fence();
    abandoned_.push_back(std::move(pair));
  }
  StubNetwork& network() { return network_; }
  const StubNetwork& network() const { return network_; }

 private:
  StubNetwork network_;
  std::map<std::pair<CableFabric::SegmentNumber, std::size_t>, RdmaPort> ports_;
  std::map<CableFabric::NodeNumber, std::vector<StubDevice*>> by_node_;
  std::vector<std::unique_ptr<StubQueuePair>> abandoned_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_RDMA_PORTS_H_
