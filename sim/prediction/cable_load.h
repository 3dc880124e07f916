// Utilisation of cables over a whole run, and of the resources that several of them share.
#ifndef CABLEWAY_SIM_PREDICTION_CABLE_LOAD_H_
#define CABLEWAY_SIM_PREDICTION_CABLE_LOAD_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::sim {

// One direction of a cable.
struct CableLoad {
  routing::CableIndex cable;
  bool from_a = true;
  std::uint64_t bytes = 0;
  double utilisation = 0;  // share of its rate, over the whole run
};

// A wire that is several cables, a connector at which several wires end, or a PCIe root behind several ports
// (routing/topology/physical_cable.h): it may be saturated while no single cable is.
struct SharedLoad {
  enum class Kind { kWire, kConnector, kRoot };
  struct Direction {
    std::uint64_t bytes = 0;
    double utilisation = 0;  // share of rate_mbps, over the whole run
  };

  Kind kind = Kind::kWire;
  std::string name;                         // "c0=c1"; "n0 eth1", "n0 plug p0"; "n0 root r0"
  std::vector<routing::CableIndex> cables;  // sorted, at least two
  routing::NodeIndex node;                  // a wire's end a, or the connector's or root's node
  std::uint64_t rate_mbps = 0;
  Direction out;  // of `node`
  Direction in;
};

// The loads of all resources that cables share: wires, connectors, roots, each kind in the order of PhysicalCables.
// Pure. Precondition: `loads` are all cables in order, each with the load from a, then from b; `whole_s` is in seconds.
std::vector<SharedLoad> shared_loads(const routing::Topology& topology, std::span<const CableLoad> loads,
                                     double whole_s);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_CABLE_LOAD_H_
