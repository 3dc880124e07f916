#include "routing/paths/weak_points.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace cableway::routing {
namespace {

struct Edge {
  std::size_t component = 0;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Edge>;

std::vector<std::size_t> sorted_articulation_points(Graph& graph) {
  std::vector<std::size_t> points;
  boost::biconnected_components(graph, boost::get(&Edge::component, graph), std::back_inserter(points));
  std::sort(points.begin(), points.end());
  return points;
}

// Boost's algorithm ignores parallel edges, so neighbours are joined once and bridges with parallel cables are dropped.
void find_nodes_and_cables(const Topology& topology, const PhysicalCables& physical, WeakPoints& weak) {
  std::map<std::pair<NodeIndex, NodeIndex>, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < physical.cables.size(); ++i) {
    places[{physical.cables[i].a, physical.cables[i].b}].push_back(i);
  }
  Graph graph(topology.node_count());
  for (const auto& [ends, joining] : places) boost::add_edge(ends.first.value, ends.second.value, graph);
  for (const std::size_t point : sorted_articulation_points(graph)) {
    weak.nodes.push_back(NodeIndex{static_cast<std::uint32_t>(point)});
  }

  std::vector<std::size_t> edges_in_component(places.size(), 0);
  for (const auto edge : boost::make_iterator_range(boost::edges(graph))) {
    ++edges_in_component[graph[edge].component];
  }
  for (const auto edge : boost::make_iterator_range(boost::edges(graph))) {
    if (edges_in_component[graph[edge].component] != 1) continue;
    const NodeIndex from{static_cast<std::uint32_t>(boost::source(edge, graph))};
    const NodeIndex to{static_cast<std::uint32_t>(boost::target(edge, graph))};
    const std::vector<std::size_t>& joining = places[std::minmax(from, to)];
    if (joining.size() == 1) weak.cables.push_back(joining.front());
  }
  std::sort(weak.cables.begin(), weak.cables.end());
}

// Adds the shared connectors as vertices between their node and their cables.
void find_connectors(const Topology& topology, const PhysicalCables& physical, WeakPoints& weak) {
  if (physical.connectors.empty()) return;
  Graph graph(topology.node_count() + physical.connectors.size());
  const auto vertex = [&](NodeIndex node, std::optional<std::size_t> shared) {
    return shared ? topology.node_count() + *shared : node.value;
  };
  for (std::size_t i = 0; i < physical.connectors.size(); ++i) {
    const NodeIndex node = physical.connectors[i].node;
    boost::add_edge(node.value, vertex(node, i), graph);
  }
  for (const PhysicalCable& cable : physical.cables) {
    boost::add_edge(vertex(cable.a, cable.shared_at_a), vertex(cable.b, cable.shared_at_b), graph);
  }
  for (const std::size_t point : sorted_articulation_points(graph)) {
    if (point >= topology.node_count()) weak.connectors.push_back(point - topology.node_count());
  }
}

}  // namespace

WeakPoints weak_points(const Topology& topology, const PhysicalCables& physical) {
  WeakPoints weak;
  find_nodes_and_cables(topology, physical, weak);
  find_connectors(topology, physical, weak);
  return weak;
}

}  // namespace cableway::routing
