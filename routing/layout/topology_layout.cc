#include "routing/layout/topology_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>

#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kLongestRow = 8;
constexpr double kParallelGap = 26;
constexpr double kArc = 46;  // of a cable that bypasses nodes

// In rows of alternating direction, so that neighbours stay adjacent.
std::vector<Place> place_line(const std::vector<NodeIndex>& order, double spacing) {
  std::vector<Place> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t row = i / kLongestRow;
    const std::size_t column = row % 2 == 0 ? i % kLongestRow : kLongestRow - 1 - i % kLongestRow;
    places[order[i].value] = {static_cast<double>(column) * spacing, static_cast<double>(row) * spacing};
  }
  return places;
}

std::vector<Place> place_grid(const TopologyShape& shape, double spacing) {
  std::vector<Place> places(shape.order.size());
  for (std::size_t i = 0; i < shape.order.size(); ++i) {
    const std::size_t row = i / shape.columns;
    const std::size_t column = i % shape.columns;
    places[shape.order[i].value] = {static_cast<double>(column) * spacing, static_cast<double>(row) * spacing};
  }
  return places;
}

// From the top, clockwise. Neighbours on the circle are `spacing` apart.
std::vector<Place> place_circle(std::span<const NodeIndex> order, std::size_t nodes, double spacing) {
  std::vector<Place> places(nodes);
  const double count = static_cast<double>(order.size());
  const double radius = order.size() < 2 ? 0 : spacing / 2 / std::sin(std::numbers::pi / std::max(count, 3.0));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / count - std::numbers::pi / 2;
    places[order[i].value] = {radius * std::cos(angle), radius * std::sin(angle)};
  }
  return places;
}

// Leaves side by side, every other node above the middle of its children.
class TreePlaces {
 public:
  TreePlaces(const Topology& topology, double spacing)
      : topology_(topology), spacing_(spacing), places_(topology.node_count()) {}

  std::vector<Place> place(NodeIndex root) && {
    walk(root);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) centre(*step);
    return std::move(places_);
  }

 private:
  struct Step {
    NodeIndex node;
    NodeIndex parent;
    std::size_t depth = 0;
  };

  // Pre-order, siblings in their order; places the leaves.
  void walk(NodeIndex root) {
    std::vector<Step> left = {{root, root, 0}};
    while (!left.empty()) {
      const Step step = left.back();
      left.pop_back();
      steps_.push_back(step);
      const std::size_t before = left.size();
      for (const NodeIndex child : children(step)) left.push_back({child, step.node, step.depth + 1});
      std::reverse(left.begin() + static_cast<std::ptrdiff_t>(before), left.end());
      const bool is_leaf = left.size() == before;
      const double x = is_leaf ? static_cast<double>(leaves_++) * spacing_ : 0;
      places_[step.node.value] = {x, static_cast<double>(step.depth) * spacing_};
    }
  }

  void centre(const Step& step) {
    const std::vector<NodeIndex> below = children(step);
    if (below.empty()) return;
    places_[step.node.value].x = (places_[below.front().value].x + places_[below.back().value].x) / 2;
  }

  std::vector<NodeIndex> children(const Step& step) const {
    std::vector<NodeIndex> found;
    for (const Adjacency& each : topology_.adjacencies(step.node)) {
      const bool is_root = step.depth == 0;
      if (!is_root && each.neighbour == step.parent) continue;
      if (found.empty() || found.back() != each.neighbour) found.push_back(each.neighbour);
    }
    return found;
  }

  const Topology& topology_;
  const double spacing_;
  std::vector<Place> places_;
  std::vector<Step> steps_;
  std::size_t leaves_ = 0;
};

std::vector<Place> place_nodes(const Topology& topology, const TopologyShape& shape, double spacing) {
  switch (shape.kind) {
    case TopologyKind::kLine:
      return place_line(shape.order, spacing);
    case TopologyKind::kTorus:
      return place_grid(shape, spacing);
    case TopologyKind::kStar: {
      // The hub stays in the middle, which is where a circle's centre is.
      return place_circle(std::span(shape.order).subspan(1), topology.node_count(), spacing);
    }
    case TopologyKind::kTree:
      return TreePlaces(topology, spacing).place(shape.order.front());
    case TopologyKind::kSingleNode:
    case TopologyKind::kFullMesh:
    case TopologyKind::kRing:
    case TopologyKind::kPartial:
    case TopologyKind::kDisconnected:
      return place_circle(shape.order, topology.node_count(), spacing);
  }
  return {};
}

// Bends upwards or to the left, around the nodes between.
double arc_of(const Place& a, const Place& b, double spacing) {
  const double distance = std::hypot(b.x - a.x, b.y - a.y);
  if (distance < spacing * 1.5) return 0;
  const bool is_row = std::abs(b.y - a.y) < std::abs(b.x - a.x);
  const bool points_on = is_row ? b.x > a.x : b.y > a.y;
  const double direction = is_row == points_on ? -1 : 1;
  return direction * kArc;
}

// Where each cable runs beside those between the same two nodes: from 0 in its place, and their number; and its
// distance from the middle of all. Cables of one wire are neighbours, closer to each other than wires.
struct Beside {
  double place = 0;
  double count = 1;
  double offset = 0;
};

// By cable. Offsets are to the right, seen from the lower node.
std::vector<Beside> places_beside(const Topology& topology) {
  const PhysicalCables physical = physical_cables(topology);
  std::map<std::pair<NodeIndex, NodeIndex>, std::vector<const PhysicalCable*>> pairs;
  for (const PhysicalCable& wire : physical.cables) pairs[{wire.a, wire.b}].push_back(&wire);
  std::vector<Beside> beside(topology.cable_count());
  for (const auto& [pair, wires] : pairs) {
    double at = 0;
    double place = 0;
    for (const PhysicalCable* wire : wires) {
      for (const CableIndex cable : wire->cables) {
        beside[cable.value] = {place++, 0, at};
        at += kTwinGap;
      }
      at += kParallelGap - kTwinGap;
    }
    for (const PhysicalCable* wire : wires) {
      for (const CableIndex cable : wire->cables) {
        beside[cable.value].count = place;
        beside[cable.value].offset -= (at - kParallelGap) / 2;
      }
    }
  }
  return beside;
}

void place_cables(const Topology& topology, const TopologyShape& shape, double spacing, TopologyLayout& layout) {
  const std::vector<Beside> all = places_beside(topology);
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    const Place& a = layout.places[cable.a.node.value];
    const Place& b = layout.places[cable.b.node.value];
    const auto [place, count, offset] = all[i];
    const double arc = shape.kind == TopologyKind::kTorus ? arc_of(a, b, spacing) : 0;
    layout.bends.push_back((cable.a.node < cable.b.node ? offset : -offset) + arc);
    // Labels of parallel cables go side by side; the label of an arc goes where it meets neither a node nor another
    // label.
    const double on_arc = 0.7 * spacing / std::max(std::hypot(b.x - a.x, b.y - a.y), spacing);
    // Reversed where the line rises from left to right: else the offsets along and across it cancel, and labels
    // overlap.
    const double label_place = (b.x - a.x) * (b.y - a.y) < 0 ? count - 1 - place : place;
    layout.labels.push_back(arc != 0 ? on_arc : 0.25 + 0.5 * (label_place + 1) / (count + 1));
  }
}

}  // namespace

TopologyLayout lay_out(const Topology& topology, const TopologyShape& shape, double spacing) {
  TopologyLayout layout;
  layout.places = place_nodes(topology, shape, spacing);
  place_cables(topology, shape, spacing, layout);
  const auto [left, right] = std::minmax_element(layout.places.begin(), layout.places.end(),
                                                 [](const Place& a, const Place& b) { return a.x < b.x; });
  const auto [top, bottom] = std::minmax_element(layout.places.begin(), layout.places.end(),
                                                 [](const Place& a, const Place& b) { return a.y < b.y; });
  // Room for a node's box, and for arcs outside the outermost nodes.
  const double margin = spacing * 0.75;
  const Place origin{left->x - margin, top->y - margin};
  layout.width = right->x - left->x + 2 * margin;
  layout.height = bottom->y - top->y + 2 * margin;
  for (Place& place : layout.places) place = {place.x - origin.x, place.y - origin.y};
  return layout;
}

}  // namespace cableway::routing
