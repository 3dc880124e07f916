// What can fail on a path: its relays, its cables, and the wires and connectors that these share with others
// (physical_cable.h). No wire fails with a PCIe link, so links are not among them.
#ifndef CABLEWAY_ROUTING_OFFERS_POINTS_OF_FAILURE_H_
#define CABLEWAY_ROUTING_OFFERS_POINTS_OF_FAILURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Sorted; no number occurs twice.
using PointSet = std::vector<std::uint32_t>;

inline PointSet common_points(const PointSet& left, const PointSet& right) {
  PointSet both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return both;
}

inline PointSet points_without(const PointSet& all, const PointSet& removed) {
  PointSet rest;
  std::set_difference(all.begin(), all.end(), removed.begin(), removed.end(), std::back_inserter(rest));
  return rest;
}

// Numbers the points of failure of a topology.
class PointsOfFailure {
 public:
  // Both must outlive this. Precondition: `physical` is physical_cables(topology).
  PointsOfFailure(const Topology& topology, const PhysicalCables& physical)
      : first_wire_(topology.node_count()),
        first_cable_(first_wire_ + physical.cables.size()),
        first_connector_(first_cable_ + topology.cable_count()),
        physical_(physical) {}

  std::size_t count() const { return first_connector_ + physical_.connectors.size(); }
  std::uint32_t of_relay(NodeIndex node) const { return node.value; }
  std::uint32_t of_wire(std::size_t place) const { return static_cast<std::uint32_t>(first_wire_ + place); }
  // The cable's own point, in addition to that of its wire, since a port may fail alone.
  std::uint32_t of_cable(CableIndex cable) const { return static_cast<std::uint32_t>(first_cable_ + cable.value); }
  std::uint32_t of_connector(std::size_t place) const { return static_cast<std::uint32_t>(first_connector_ + place); }

  PointSet of(const Path& path) const {
    PointSet points;
    for (std::size_t i = 1; i < path.hops(); ++i) points.push_back(of_relay(path.nodes[i]));
    for (const CableIndex cable : path.cables) {
      const PhysicalCable& wire = physical_.cables[physical_.place_of_cable[cable.value]];
      points.push_back(of_wire(physical_.place_of_cable[cable.value]));
      if (wire.cables.size() > 1) points.push_back(of_cable(cable));
      for (const auto& shared : {wire.shared_at_a, wire.shared_at_b}) {
        if (shared) points.push_back(of_connector(*shared));
      }
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
  }

 private:
  const std::size_t first_wire_;
  const std::size_t first_cable_;
  const std::size_t first_connector_;
  const PhysicalCables& physical_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_POINTS_OF_FAILURE_H_
