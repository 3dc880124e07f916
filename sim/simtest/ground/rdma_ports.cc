#include "sim/simtest/ground/rdma_ports.h"

namespace cableway::sim {

void RdmaPorts::add(CableFabric::SegmentNumber segment, std::size_t end, CableFabric::NodeNumber node) {
  std::vector<StubDevice*>& devices = by_node_[node];
  ports_[{segment, end}] = RdmaPort{&network_.add_device(), devices.size()};
  devices.push_back(ports_[{segment, end}].device);
}

const RdmaPort* RdmaPorts::find(CableFabric::SegmentNumber segment, std::size_t end) const {
  const auto port = ports_.find({segment, end});
  return port == ports_.end() ? nullptr : &port->second;
}

}  // namespace cableway::sim
