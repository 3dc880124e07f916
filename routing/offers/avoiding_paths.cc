#include "routing/offers/avoiding_paths.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "routing/paths/path_cost.h"
#include "routing/paths/unit_flow.h"

namespace cableway::routing {
namespace {

// A flow network in which each use of a point of failure is an arc of its own, which has a penalty from the second use
// on, and from the first one if the point is avoided. Vertices: for each node its entry and its exit; for each
// connector and each wire of several cables one for each direction.
//
//     exit - connector (out) - wire - cable - connector (in) - entry
class PointNetwork {
 public:
  // `uses`: of each point at most.
  PointNetwork(const Topology& topology, const PhysicalCables& physical, const PointsOfFailure& points,
               NodeIndex source, NodeIndex destination, const PointSet& avoided, std::size_t uses)
      : topology_(topology),
        physical_(physical),
        points_(points),
        source_(source),
        destination_(destination),
        is_avoided_(points.count(), false),
        uses_(uses),
        flow_(2 * (topology.node_count() + physical.connectors.size() + physical.cables.size()), exit(source),
              entry(destination)) {
    for (const std::uint32_t point : avoided) is_avoided_[point] = true;
    flow_.reserve(uses * (topology.node_count() + 2 * physical.connectors.size() + 2 * topology.cable_count()));
    for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
      if (may_relay(NodeIndex{i})) use(entry({i}), exit({i}), points.of_relay({i}));
    }
    for (std::size_t i = 0; i < physical.connectors.size(); ++i) {
      const NodeIndex node = physical.connectors[i].node;
      use(exit(node), connector(i, true), points.of_connector(i));
      use(connector(i, false), entry(node), points.of_connector(i));
    }
    for (std::size_t i = 0; i < physical.cables.size(); ++i) {
      add_wire(i, true);
      add_wire(i, false);
    }
  }

  Path path() { return flow_.push_one() ? taken() : Path(); }

  std::pair<Path, Path> paths() {
    if (!flow_.push_one() || !flow_.push_one()) return {};
    Path first = taken();
    return {std::move(first), taken()};
  }

 private:
  static std::size_t entry(NodeIndex node) { return 2UL * node.value; }
  static std::size_t exit(NodeIndex node) { return 2UL * node.value + 1; }
  std::size_t connector(std::size_t place, bool out) const {
    return 2 * (topology_.node_count() + place) + (out ? 0 : 1);
  }
  std::size_t inside_wire(std::size_t place, bool from_a) const {
    return 2 * (topology_.node_count() + physical_.connectors.size() + place) + (from_a ? 0 : 1);
  }

  bool may_relay(NodeIndex node) const {
    return node != source_ && node != destination_ && !topology_.node(node).draining;
  }

  void use(std::size_t from, std::size_t to, std::uint32_t point, ArcCost cost = {},
           std::optional<CableIndex> label = std::nullopt) {
    if (is_avoided_[point]) ++cost.penalty;
    for (std::size_t i = 0; i < uses_; ++i) {
      flow_.add_arc(from, to, cost, label);
      if (i == 0) ++cost.penalty;
    }
  }

  void add_wire(std::size_t place, bool from_a) {
    const PhysicalCable& wire = physical_.cables[place];
    const NodeIndex from = from_a ? wire.a : wire.b;
    const NodeIndex to = from_a ? wire.b : wire.a;
    if ((from != source_ && !may_relay(from)) || (to != destination_ && !may_relay(to))) return;
    const std::optional<std::size_t>& shared_at_from = from_a ? wire.shared_at_a : wire.shared_at_b;
    const std::optional<std::size_t>& shared_at_to = from_a ? wire.shared_at_b : wire.shared_at_a;
    const std::size_t begin = shared_at_from ? connector(*shared_at_from, true) : exit(from);
    const std::size_t end = shared_at_to ? connector(*shared_at_to, false) : entry(to);
    if (wire.cables.size() == 1) {
      const CableIndex cable = wire.cables.front();
      return use(begin, end, points_.of_wire(place), cost_of_crossing(cable), cable);
    }
    use(begin, inside_wire(place, from_a), points_.of_wire(place));
    for (const CableIndex cable : wire.cables) {
      use(inside_wire(place, from_a), end, points_.of_cable(cable), cost_of_crossing(cable), cable);
    }
  }

  ArcCost cost_of_crossing(CableIndex cable) const {
    return {.hops = 1, .latency_ns = static_cast<std::int64_t>(topology_.latency_cost_ns(cable))};
  }

  Path taken() {
    Path path{flow_.take_one(), {source_}};
    for (const CableIndex cable : path.cables) {
      path.nodes.push_back(topology_.neighbour_over(cable, path.nodes.back()));
    }
    return path;
  }

  const Topology& topology_;
  const PhysicalCables& physical_;
  const PointsOfFailure& points_;
  const NodeIndex source_;
  const NodeIndex destination_;
  std::vector<bool> is_avoided_;  // by point
  const std::size_t uses_;
  UnitFlow flow_;
};

std::pair<Path, Path> with_tails_exchanged(std::pair<Path, Path> paths, std::size_t hop, std::size_t other_hop) {
  const auto exchange = [&](auto member) {
    auto& left = paths.first.*member;
    auto& right = paths.second.*member;
    const std::vector tail(left.begin() + static_cast<std::ptrdiff_t>(hop), left.end());
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(hop), left.end());
    left.insert(left.end(), right.begin() + static_cast<std::ptrdiff_t>(other_hop), right.end());
    right.erase(right.begin() + static_cast<std::ptrdiff_t>(other_hop), right.end());
    right.insert(right.end(), tail.begin(), tail.end());
  };
  exchange(&Path::cables);
  exchange(&Path::nodes);
  return paths;
}

// Exchanges the tails of the two paths at relays that both cross, where that leaves them fewer common points. Each
// direction of a connector is an arc of its own, so one path may enter such a relay by the connector through which the
// other path leaves it; after the exchange one path has both uses.
void untangle(const PointsOfFailure& points, std::pair<Path, Path>& paths) {
  const auto common = [&](const std::pair<Path, Path>& both) {
    return common_points(points.of(both.first), points.of(both.second)).size();
  };
  for (std::size_t hop = 1; hop < paths.first.hops(); ++hop) {
    const std::vector<NodeIndex>& others = paths.second.nodes;
    const auto other_hop =
        static_cast<std::size_t>(std::find(others.begin(), others.end(), paths.first.nodes[hop]) - others.begin());
    if (other_hop == others.size()) continue;
    std::pair<Path, Path> exchanged = with_tails_exchanged(paths, hop, other_hop);
    if (common(exchanged) < common(paths)) paths = std::move(exchanged);
  }
}

}  // namespace

Path path_avoiding(const Topology& topology, const PhysicalCables& physical, const PointsOfFailure& points,
                   NodeIndex source, NodeIndex destination, const PointSet& avoided) {
  return PointNetwork(topology, physical, points, source, destination, avoided, 1).path();
}

std::pair<Path, Path> surviving_paths(const Topology& topology, const PhysicalCables& physical,
                                      const PointsOfFailure& points, NodeIndex source, NodeIndex destination) {
  std::pair<Path, Path> paths = PointNetwork(topology, physical, points, source, destination, {}, 2).paths();
  if (!physical.connectors.empty()) untangle(points, paths);
  return paths;
}

}  // namespace cableway::routing
