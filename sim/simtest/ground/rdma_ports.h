// Which ports of a simulation test have an RDMA device, and what such a port needs to be one end of a hop.
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
  std::size_t number = 0;  // on its node (RegisteredSlot::keys)
};

class RdmaPorts {
 public:
  explicit RdmaPorts(const StubNetwork::Settings& settings) : network_(settings) {}

  // The port at this place of the segment gets a device, which is `node`'s next one. Before anything is looked for.
  void add(CableFabric::SegmentNumber segment, std::size_t end, CableFabric::NodeNumber node);
  // Null: it has none.
  const RdmaPort* find(CableFabric::SegmentNumber segment, std::size_t end) const;
  // In the order of their numbers.
  const std::vector<StubDevice*>& devices_of(CableFabric::NodeNumber node) { return by_node_[node]; }
  // A queue pair that its owner does not want any more, and that another one may have been joined to.
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
