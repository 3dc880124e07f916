#include "routing/topology_io/topology_drawing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "routing/layout/switch_boxes.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology_kind.h"
#include "routing/topology_io/grid_drawing.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kNodeLabel = 20;
constexpr std::size_t kCableLabel = 16;

std::string cut(const std::string& text, std::size_t length) {
  return text.size() <= length ? text : absl::StrCat(text.substr(0, length - 1), "~");
}

std::string rate_text(std::uint64_t rate_mbps, const char* giga, const char* mega) {
  if (rate_mbps >= 1000 && rate_mbps % 100 == 0) {
    const std::uint64_t tenths = rate_mbps % 1000 / 100;
    return tenths == 0 ? absl::StrCat(rate_mbps / 1000, giga) : absl::StrCat(rate_mbps / 1000, ".", tenths, giga);
  }
  return absl::StrCat(rate_mbps, mega);
}

std::string range_text(std::uint64_t slowest, std::uint64_t fastest) {
  const std::string text = rate_text(fastest, " Gbit/s", " Mbit/s");
  return slowest == fastest ? text : absl::StrCat(rate_text(slowest, " Gbit/s", " Mbit/s"), " to ", text);
}

// "eth1", "plug p0" of a port named "n0 eth1", "n0 plug p0".
std::string name_at_node(const SwitchPort& port) {
  return std::string(absl::StripPrefix(port.name, absl::StrCat(port.node, " ")));
}

// The labels of nodes and cables in a drawing.
class Labels {
 public:
  explicit Labels(const BoxedTopology& boxed) : boxed_(boxed), topology_(boxed.drawn) {
    for (const Cable& cable : topology_.cables()) {
      rates_differ_ = rates_differ_ || cable.rate_mbps != topology_.cables().front().rate_mbps;
    }
  }

  std::string node(NodeIndex index) const {
    const std::string& name = topology_.node(index).name;
    return boxed_.boxes.contains(name) ? absl::StrCat("[", name, "]") : cut(name, kNodeLabel);
  }

  // The cables that join `a` and `b`.
  GridDrawing::Link link(NodeIndex a, NodeIndex b) const {
    const std::span<const Adjacency> cables = topology_.cables_between(a, b);
    std::vector<std::string> labels;
    for (const Adjacency& adjacency : cables) labels.push_back(cable(topology_.cable(adjacency.cable)));
    const bool all_named = std::none_of(labels.begin(), labels.end(), [](const auto& label) { return label.empty(); });
    std::string label = absl::StrJoin(labels, ",");
    if (cables.size() > 1 && (!all_named || label.size() > kCableLabel)) label = absl::StrCat("x", cables.size());
    return {cut(label, kCableLabel), cables.size() > 1};
  }

 private:
  // Its name and rate, as far as they add to the drawing.
  std::string cable(const Cable& cable) const {
    std::string rate = rates_differ_ ? rate_text(cable.rate_mbps, "G", "M") : "";
    const auto port = boxed_.ports.find(cable.name);
    if (port == boxed_.ports.end() && has_default_name(topology_, cable)) return rate;
    const std::string name = port == boxed_.ports.end() ? cable.name : name_at_node(port->second);
    return rate.empty() ? name : absl::StrCat(name, " ", rate);
  }

  const BoxedTopology& boxed_;
  const Topology& topology_;
  bool rates_differ_ = false;
};

std::optional<std::string> text_if_it_fits(const GridDrawing& drawing) {
  if (drawing.width() > kDrawingColumns) return std::nullopt;
  return drawing.text();
}

// Left to right, then down, then right to left, ..: as many columns as fit.
std::optional<std::string> draw_line(const std::vector<NodeIndex>& order, const Labels& labels) {
  for (std::size_t columns = order.size(); columns >= 2; --columns) {
    const std::size_t rows = (order.size() + columns - 1) / columns;
    GridDrawing drawing(rows, columns);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t row = i / columns;
      const std::size_t column = row % 2 == 0 ? i % columns : columns - 1 - i % columns;
      drawing.set_node(row, column, labels.node(order[i]));
      if (i + 1 == order.size()) continue;
      GridDrawing::Link link = labels.link(order[i], order[i + 1]);
      if (i % columns == columns - 1) {
        drawing.link_down(row, column, std::move(link));
      } else {
        drawing.link_right(row, row % 2 == 0 ? column : column - 1, std::move(link));
      }
    }
    if (std::optional<std::string> text = text_if_it_fits(drawing)) return text;
  }
  return std::nullopt;
}

// A rectangle of `columns` columns. With an odd number of nodes, one corner is an empty bend.
GridDrawing ring_drawing(const std::vector<NodeIndex>& order, const Labels& labels, std::size_t columns) {
  const std::size_t places = order.size() + order.size() % 2;
  const std::size_t rows = places / 2 - columns + 2;
  GridDrawing drawing(rows, columns);
  const auto place = [&](std::size_t i) -> std::pair<std::size_t, std::size_t> {
    if (i < columns) return {0, i};
    if (i < columns + rows - 2) return {i - columns + 1, columns - 1};
    if (i < 2 * columns + rows - 2) return {rows - 1, 2 * columns + rows - 3 - i};
    return {places - i, 0};
  };
  const std::size_t bend = order.size() == places ? places : 2 * columns + rows - 3;
  const auto node_at = [&](std::size_t i) { return order[(i > bend ? i - 1 : i) % order.size()]; };
  for (std::size_t i = 0; i < places; ++i) {
    const auto [row, column] = place(i);
    const auto [next_row, next_column] = place((i + 1) % places);
    if (i == bend) {
      drawing.set_corner(row, column);
    } else {
      drawing.set_node(row, column, labels.node(node_at(i)));
    }
    // The cable around the bend leads to the node after it; only its first half has the label.
    GridDrawing::Link link = i == bend ? labels.link(node_at(i - 1), node_at(i + 1))
                                       : labels.link(node_at(i), node_at(i + 1 == bend ? i + 2 : i + 1));
    if (i == bend) link.label.clear();
    if (row == next_row) {
      drawing.link_right(row, std::min(column, next_column), std::move(link));
    } else {
      drawing.link_down(std::min(row, next_row), column, std::move(link));
    }
  }
  return drawing;
}

// Two rows if they fit, else as wide as fits.
std::optional<std::string> draw_ring(const std::vector<NodeIndex>& order, const Labels& labels) {
  for (std::size_t columns = (order.size() + 1) / 2; columns >= 2; --columns) {
    if (std::optional<std::string> text = text_if_it_fits(ring_drawing(order, labels, columns))) return text;
  }
  return std::nullopt;
}

std::optional<std::string> draw_torus(const TopologyShape& shape, const Labels& labels) {
  GridDrawing drawing(shape.rows + 1, shape.columns + 1);
  const auto node_at = [&](std::size_t row, std::size_t column) {
    return shape.order[row % shape.rows * shape.columns + column % shape.columns];
  };
  for (std::size_t row = 0; row <= shape.rows; ++row) {
    for (std::size_t column = 0; column <= shape.columns; ++column) {
      const NodeIndex node = node_at(row, column);
      const bool wraps_down = row == shape.rows;
      const bool wraps_right = column == shape.columns;
      if (wraps_down && wraps_right) continue;
      const std::string label = labels.node(node);
      drawing.set_node(row, column, wraps_down || wraps_right ? absl::StrCat("(", label, ")") : label);
      if (!wraps_down && !wraps_right) {
        drawing.link_right(row, column, labels.link(node, node_at(row, column + 1)));
        drawing.link_down(row, column, labels.link(node, node_at(row + 1, column)));
      }
    }
  }
  return text_if_it_fits(drawing);
}

// 0 1
// 2 3, with the diagonal cables listed below the drawing.
std::optional<std::string> draw_mesh_of_four(const std::vector<NodeIndex>& order, const Labels& labels) {
  GridDrawing drawing(2, 2);
  for (std::size_t i = 0; i < 4; ++i) drawing.set_node(i / 2, i % 2, labels.node(order[i]));
  drawing.link_right(0, 0, labels.link(order[0], order[1]));
  drawing.link_right(1, 0, labels.link(order[2], order[3]));
  drawing.link_down(0, 0, labels.link(order[0], order[2]));
  drawing.link_down(0, 1, labels.link(order[1], order[3]));
  drawing.cross();
  std::optional<std::string> text = text_if_it_fits(drawing);
  if (!text) return text;
  for (const auto& [from, to] : {std::pair(order[0], order[3]), std::pair(order[1], order[2])}) {
    const GridDrawing::Link link = labels.link(from, to);
    if (link.label.empty()) continue;
    const char* dashes = link.several ? "==" : "--";
    absl::StrAppend(&*text, "  diagonal: ", labels.node(from), " ", dashes, link.label, dashes, " ", labels.node(to),
                    "\n");
  }
  return text;
}

// Depth first, one line per node, indented by its depth.
std::optional<std::string> draw_tree(const Topology& topology, NodeIndex root, const Labels& labels) {
  struct Branch {
    NodeIndex node;
    NodeIndex parent;
    std::string indent;  // of the node's line, without the branch that leads to it
  };
  std::string text;
  std::vector<Branch> left = {{root, root, ""}};
  while (!left.empty()) {
    const Branch branch = std::move(left.back());
    left.pop_back();
    std::string line = absl::StrCat("  ", branch.indent);
    if (branch.node != root) {
      const GridDrawing::Link link = labels.link(branch.parent, branch.node);
      const char* dashes = link.several ? "==" : "--";
      absl::StrAppend(&line, "+", dashes, link.label, dashes, " ");
    }
    line += labels.node(branch.node);
    if (line.size() > kDrawingColumns) return std::nullopt;
    absl::StrAppend(&text, line, "\n");

    const bool is_last = left.empty() || left.back().parent != branch.parent;
    const std::string below = branch.node == root ? "" : branch.indent + (is_last ? "   " : "|  ");
    const std::span<const Adjacency> neighbours = topology.adjacencies(branch.node);
    for (auto it = neighbours.rbegin(); it != neighbours.rend(); ++it) {
      const bool is_seen = it != neighbours.rbegin() && std::prev(it)->neighbour == it->neighbour;
      if (it->neighbour != branch.parent && !is_seen) left.push_back({it->neighbour, branch.node, below});
    }
  }
  return text;
}

// "n0: n1 (c0), n3 (c3)", each node's neighbours on as many lines as they need.
std::string draw_list(const Topology& topology, const Labels& labels) {
  std::string text;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const NodeIndex node{i};
    std::string line = absl::StrCat("  ", labels.node(node), ":");
    const std::string indent(line.size(), ' ');
    const std::span<const Adjacency> neighbours = topology.adjacencies(node);
    if (neighbours.empty()) line += " no cables";
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const NodeIndex neighbour = neighbours[k].neighbour;
      if (k > 0 && neighbours[k - 1].neighbour == neighbour) continue;
      const std::string label = labels.link(node, neighbour).label;
      std::string entry =
          absl::StrCat(" ", labels.node(neighbour), label.empty() ? "" : absl::StrCat(" (", label, ")"));
      if (neighbours.back().neighbour != neighbour) entry += ",";
      if (line.size() + entry.size() > kDrawingColumns) {
        absl::StrAppend(&text, line, "\n");
        line = indent;
      }
      line += entry;
    }
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

// ", 1 to 3 us": the range over the cables whose latency is known; else empty.
std::string latencies(const Topology& topology) {
  std::optional<double> least;
  std::optional<double> most;
  for (const Cable& cable : topology.cables()) {
    if (!cable.latency_us) continue;
    least = std::min(least.value_or(*cable.latency_us), *cable.latency_us);
    most = std::max(most.value_or(*cable.latency_us), *cable.latency_us);
  }
  if (!least) return "";
  return absl::StrCat(", ", *least != *most ? absl::StrCat(*least, " to ") : "", *most, " us");
}

std::string switch_count(std::size_t switches) {
  return switches == 0 ? "" : absl::StrCat(switches, switches == 1 ? " switch, " : " switches, ");
}

std::string facts(const Topology& topology, std::size_t switches) {
  const TopologyShape shape = recognise_shape(topology);
  std::string text(kind_name(shape.kind));
  if (shape.kind == TopologyKind::kTorus) absl::StrAppend(&text, " ", shape.rows, "x", shape.columns);
  if (shape.kind == TopologyKind::kDisconnected) absl::StrAppend(&text, " in ", topology.components().size(), " parts");
  absl::StrAppend(&text, ": ", topology.node_count(), topology.node_count() == 1 ? " node, " : " nodes, ",
                  switch_count(switches), topology.cable_count(), topology.cable_count() == 1 ? " cable" : " cables");
  if (topology.cable_count() == 0) return text;
  const auto [slowest, fastest] =
      std::minmax_element(topology.cables().begin(), topology.cables().end(),
                          [](const Cable& left, const Cable& right) { return left.rate_mbps < right.rate_mbps; });
  return absl::StrCat(text, " of ", range_text(slowest->rate_mbps, fastest->rate_mbps), latencies(topology));
}

std::string unused_note(const Cable& cable) {
  const std::string name = cut(cable.name, 2 * kNodeLabel);
  if (cable.draining) return absl::StrCat("draining: no path leads over cable ", name);
  return absl::StrCat("lossy: no path leads over cable ", name, ", which loses ", cable.loss_percent, " % of packets");
}

// "[switch] joins 4 ports of 10 Gbit/s, each with each: 6 cables"
std::vector<std::string> switch_notes(const BoxedTopology& boxed) {
  std::vector<std::string> notes;
  for (const std::string& box : boxed.boxes) {
    std::set<std::string> cables;
    std::vector<std::uint64_t> rates;
    for (const auto& [name, port] : boxed.ports) {
      if (port.box != box) continue;
      cables.insert(port.cables.begin(), port.cables.end());
      rates.push_back(port.rate_mbps);
    }
    const auto [slowest, fastest] = std::ranges::minmax(rates);
    notes.push_back(absl::StrCat("[", box, "] joins ", rates.size(), " ports of ", range_text(slowest, fastest),
                                 ", each with each: ", cables.size(), " cables"));
  }
  return notes;
}

// What cables share that no switch joins.
std::vector<std::string> sharing_notes(const Topology& topology, const BoxedTopology& boxed) {
  std::set<std::string> replaced;
  for (const auto& [name, port] : boxed.ports) replaced.insert(port.cables.begin(), port.cables.end());
  const PhysicalCables physical = physical_cables(topology);
  const auto is_replaced = [&](const PhysicalCable& wire) {
    return replaced.contains(topology.cable(wire.cables.front()).name);
  };
  const auto node_name = [&](NodeIndex node) { return cut(topology.node(node).name, kNodeLabel); };
  std::vector<std::string> notes;
  for (const PhysicalCable& wire : physical.cables) {
    if (wire.cables.size() == 1 || is_replaced(wire)) continue;
    notes.push_back(absl::StrCat("one wire: ", wire.cables.size(), " cables between ", node_name(wire.a), " and ",
                                 node_name(wire.b), ", together ", rate_text(wire.rate_mbps, " Gbit/s", " Mbit/s")));
  }
  for (const SharedConnector& connector : physical.connectors) {
    if (is_replaced(physical.cables[connector.physical_cables.front()])) continue;
    notes.push_back(absl::StrCat("shared: ", cut(connector_name(topology, physical, connector), 2 * kNodeLabel),
                                 " has ", connector.physical_cables.size(), " cables, together ",
                                 rate_text(connector.rate_mbps, " Gbit/s", " Mbit/s")));
  }
  for (const SharedRoot& root : physical.roots) {
    notes.push_back(absl::StrCat("shared: ", cut(root_name(topology, root), 2 * kNodeLabel), " (PCIe) has ",
                                 root.cables.size(), " cables, together ",
                                 rate_text(root.rate_mbps, " Gbit/s", " Mbit/s")));
  }
  return notes;
}

// One line for every draining node, every unused or lossy cable, every switch, every physical cable of several cables,
// and every connector and PCIe link that cables share.
std::string draw_notes(const Topology& topology, const BoxedTopology& boxed) {
  constexpr std::size_t kMaxNotes = 24;
  std::vector<std::string> notes;
  for (const Node& node : topology.nodes()) {
    if (node.draining) notes.push_back(absl::StrCat("draining: ", cut(node.name, kNodeLabel), " relays nothing"));
  }
  for (const Cable& cable : topology.unused_cables()) notes.push_back(unused_note(cable));
  for (const Cable& cable : topology.cables()) {
    if (cable.loss_percent == 0) continue;
    notes.push_back(absl::StrCat("lossy: cable ", cut(cable.name, 2 * kNodeLabel), " loses ", cable.loss_percent,
                                 " % of packets, and there is no better way"));
  }
  for (std::vector<std::string> more : {switch_notes(boxed), sharing_notes(topology, boxed)}) {
    notes.insert(notes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxNotes, notes.size()); ++i) absl::StrAppend(&text, "  ", notes[i], "\n");
  if (notes.size() > kMaxNotes) absl::StrAppend(&text, "  and ", notes.size() - kMaxNotes, " more such notes\n");
  return text.empty() ? text : absl::StrCat("\n", text);
}

std::optional<std::string> draw_shape(const Topology& topology, const TopologyShape& shape, const Labels& labels) {
  switch (shape.kind) {
    case TopologyKind::kLine:
      return draw_line(shape.order, labels);
    case TopologyKind::kRing:
      return draw_ring(shape.order, labels);
    case TopologyKind::kFullMesh:
      if (topology.node_count() == 3) return draw_ring(shape.order, labels);
      if (topology.node_count() == 4) return draw_mesh_of_four(shape.order, labels);
      return std::nullopt;
    case TopologyKind::kStar:
    case TopologyKind::kTree:
      return draw_tree(topology, shape.order.front(), labels);
    case TopologyKind::kTorus:
      return draw_torus(shape, labels);
    case TopologyKind::kSingleNode:
    case TopologyKind::kPartial:
    case TopologyKind::kDisconnected:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string draw_topology(const Topology& topology) {
  const BoxedTopology boxed = with_switch_boxes(topology, [](const Cable&) { return false; });
  const Labels labels(boxed);
  std::optional<std::string> drawing;
  if (boxed.drawn.nodes().size() <= kMaxNodesDrawn) {
    drawing = draw_shape(boxed.drawn, recognise_shape(boxed.drawn), labels);
  }
  return absl::StrCat(facts(topology, boxed.boxes.size()), "\n\n", drawing ? *drawing : draw_list(boxed.drawn, labels),
                      draw_notes(topology, boxed));
}

}  // namespace cableway::routing
