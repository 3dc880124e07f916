#include "routing/paths/capacity_arcs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace cableway::routing {
namespace {

using Vertex = std::uint32_t;

class ArcBuilder {
 public:
  ArcBuilder(const Topology& topology, const PhysicalCables& physical) : topology_(topology), physical_(physical) {
    found_.vertices = topology.node_count();
    for (const SharedRoot& root : physical.roots) {
      roots_.push_back(new_vertices(2));
      add(root.node.value, roots_.back(), root.rate_mbps);
      add(roots_.back() + 1, root.node.value, root.rate_mbps);
    }
    for (const SharedConnector& connector : physical.connectors) add_connector(connector);
  }

  void add_wire(const PhysicalCable& wire) {
    add_way(wire, wire.a, wire.b);
    add_way(wire, wire.b, wire.a);
  }

  CapacityArcs take() && { return std::move(found_); }

 private:
  Vertex new_vertices(std::size_t count) {
    found_.vertices += count;
    return static_cast<Vertex>(found_.vertices - count);
  }
  // `forward`: from the first to the second.
  void add(Vertex from, Vertex to, std::uint64_t rate_mbps, bool forward = true) {
    found_.arcs.push_back({forward ? from : to, forward ? to : from, rate_mbps});
  }

  const PhysicalCable& wire_of(CableIndex cable) const {
    return physical_.cables[physical_.place_of_cable[cable.value]];
  }

  // The vertex at which the cable's flow leaves or enters the node: the node itself, or a root.
  Vertex inside(CableIndex cable, NodeIndex node, bool out) const {
    const CableRoots& roots = physical_.roots_of_cable[cable.value];
    const std::optional<std::size_t>& root = topology_.cable(cable).a.node == node ? roots.at_a : roots.at_b;
    return root ? roots_[*root] + (out ? 0 : 1) : node.value;
  }

  // The same outside the connector, if the cable has a shared one.
  Vertex outside(CableIndex cable, NodeIndex node, bool out) const {
    const PhysicalCable& wire = wire_of(cable);
    const std::optional<std::size_t>& connector = wire.a == node ? wire.shared_at_a : wire.shared_at_b;
    if (!connector || !connectors_[*connector]) return inside(cable, node, out);
    return *connectors_[*connector] + (out ? 0 : 1);
  }

  // A connector's capacity is an arc from the vertex inside(), if that is the same for all its cables. If not, these
  // vertices are joined at an extra one. A connector as fast as all its wires limits nothing: then there is no arc.
  void add_connector(const SharedConnector& connector) {
    connectors_.emplace_back();
    for (const bool out : {true, false}) {
      std::map<Vertex, std::uint64_t> rate_through;  // by the vertex inside
      std::uint64_t sum = 0;
      for (const std::size_t wire : connector.physical_cables) {
        for (const CableIndex cable : physical_.cables[wire].cables) {
          rate_through[inside(cable, connector.node, out)] += topology_.cable(cable).rate_mbps;
        }
        sum += physical_.cables[wire].rate_mbps;
      }
      if (rate_through.size() > 1 && connector.rate_mbps >= sum) return;
      if (!connectors_.back()) connectors_.back() = new_vertices(2);
      const Vertex behind = *connectors_.back() + (out ? 0 : 1);
      Vertex before = rate_through.begin()->first;
      if (rate_through.size() > 1) {
        before = new_vertices(1);
        for (const auto& [vertex, rate_mbps] : rate_through) add(vertex, before, rate_mbps, out);
      }
      add(before, behind, connector.rate_mbps, out);
    }
  }

  // Cables between the same two vertices are one arc. If there are several arcs and the wire is slower than their sum,
  // they are joined at an extra vertex on each side.
  void add_way(const PhysicalCable& wire, NodeIndex from, NodeIndex to) {
    std::map<std::pair<Vertex, Vertex>, std::uint64_t> rate_between;
    std::map<Vertex, std::uint64_t> rate_from;
    std::map<Vertex, std::uint64_t> rate_to;
    std::uint64_t sum = 0;
    for (const CableIndex cable : wire.cables) {
      const std::uint64_t rate_mbps = topology_.cable(cable).rate_mbps;
      const Vertex near = outside(cable, from, true);
      const Vertex far = outside(cable, to, false);
      rate_between[{near, far}] += rate_mbps;
      rate_from[near] += rate_mbps;
      rate_to[far] += rate_mbps;
      sum += rate_mbps;
    }
    if (rate_between.size() == 1) {
      const auto& [near, far] = rate_between.begin()->first;
      add(near, far, wire.rate_mbps);
    } else if (wire.rate_mbps >= sum) {
      for (const auto& [ends, rate_mbps] : rate_between) add(ends.first, ends.second, rate_mbps);
    } else {
      const Vertex meeting = new_vertices(2);
      for (const auto& [near, rate_mbps] : rate_from) add(near, meeting, rate_mbps);
      add(meeting, meeting + 1, wire.rate_mbps);
      for (const auto& [far, rate_mbps] : rate_to) add(meeting + 1, far, rate_mbps);
    }
  }

  const Topology& topology_;
  const PhysicalCables& physical_;
  std::vector<Vertex> roots_;  // by root: the vertex for what leaves the node; the next one is for what enters it
  std::vector<std::optional<Vertex>> connectors_;  // likewise, by connector; none if it limits nothing
  CapacityArcs found_;
};

}  // namespace

CapacityArcs capacity_arcs(const Topology& topology, const PhysicalCables& physical,
                           const std::function<bool(NodeIndex)>& takes_part) {
  ArcBuilder builder(topology, physical);
  for (const PhysicalCable& wire : physical.cables) {
    if (takes_part(wire.a) && takes_part(wire.b)) builder.add_wire(wire);
  }
  return std::move(builder).take();
}

}  // namespace cableway::routing
