// The resources that limit flows: the cables of a topology in each direction, and what several of them share.
//
// A resource has a capacity in bytes per second and is used by every hop that crosses it:
//   - resource 2 * c is cable c from its end `a` to its end `b`, 2 * c + 1 the opposite direction;
//   - cables that are one wire share its capacity in each direction; cables that share a connector or a root share its
//     capacity, out of the node and into it (routing/topology/physical_cable.h).
// Immutable; safe to read from any thread.
#ifndef CABLEWAY_SIM_FLOW_MODEL_CABLE_RESOURCES_H_
#define CABLEWAY_SIM_FLOW_MODEL_CABLE_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"
#include "sim/cable/rate.h"

namespace cableway::sim {

using ResourceIndex = std::uint32_t;

// A cable in one direction.
struct CableDirection {
  routing::CableIndex cable;
  bool from_a = true;

  ResourceIndex resource() const { return 2 * cable.value + (from_a ? 0 : 1); }
  friend bool operator==(const CableDirection&, const CableDirection&) = default;
};

// What a resource is to a hop that uses it: its cable or wire, or a connector or root of the node that sends or
// receives.
enum class ResourceKind : std::uint8_t {
  kCable,
  kWire,
  kSendingConnector,
  kReceivingConnector,
  kSendingRoot,
  kReceivingRoot
};

class CableResources {
 public:
  explicit CableResources(const routing::Topology& topology)
      : CableResources(topology, routing::physical_cables(topology)) {}
  // Precondition: `physical` is physical_cables(topology).
  CableResources(const routing::Topology& topology, const routing::PhysicalCables& physical);

  std::size_t count() const { return capacity_.size(); }
  // By resource, each above 0.
  std::span<const double> capacity() const { return capacity_; }

  ResourceKind kind(ResourceIndex resource) const;

  // The resources that a hop uses, the cable's own first.
  std::span<const ResourceIndex> of_hop(CableDirection hop) const {
    const ResourceIndex own = hop.resource();
    return std::span(resources_).subspan(begin_[own], begin_[own + 1] - begin_[own]);
  }

  // Appends the resources that a path of the topology uses.
  void append_path(const routing::Path& path, std::vector<ResourceIndex>& resources) const;

  // Precondition: `node` is an end of the cable.
  CableDirection direction(routing::CableIndex cable, routing::NodeIndex from) const {
    return {cable, first_end_[cable.value] == from};
  }

 private:
  std::vector<double> capacity_;
  ResourceIndex first_wire_ = 0;  // after those of cables come the resources of wires, connectors, roots
  ResourceIndex first_connector_ = 0;
  ResourceIndex first_root_ = 0;
  std::vector<routing::NodeIndex> first_end_;  // by cable
  std::vector<std::uint32_t> begin_;           // by cable and direction, plus an end: offsets into resources_
  std::vector<ResourceIndex> resources_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CABLE_RESOURCES_H_
