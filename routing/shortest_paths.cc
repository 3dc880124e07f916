#include "routing/shortest_paths.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <cmath>
#include <limits>
#include <utility>

namespace cableway::routing {
namespace {

// A PathCost as one integer, so that comparing and adding costs is one instruction: hops above, nanoseconds below.
// A path has fewer than 2^12 hops of at most 10^9 ns each, so the lower part never carries into the upper one.
constexpr int kLatencyBits = 48;
constexpr std::uint64_t kOneHop = std::uint64_t{1} << kLatencyBits;
constexpr std::uint64_t kUnreachable = std::numeric_limits<std::uint64_t>::max();
static_assert(kMaxNodes * static_cast<std::uint64_t>(kMaxLatencyUs * 1000) < kOneHop);
static_assert(kMaxNodes < (std::uint64_t{1} << (63 - kLatencyBits)));

std::uint64_t packed_cost(const Cable& cable) {
  return kOneHop + static_cast<std::uint64_t>(std::llround(cable.latency_us * 1000));
}

struct Step {
  std::uint64_t cost = 0;
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Step, boost::no_property,
                                                 std::uint32_t, std::uint32_t>;

// Every cable, in both directions.
Graph make_graph(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<Step> steps;
  ends.reserve(topology.cable_count() * 2);
  steps.reserve(topology.cable_count() * 2);
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    for (const Adjacency& adjacency : topology.adjacencies(NodeIndex{node})) {
      ends.emplace_back(node, adjacency.neighbour.value);
      steps.push_back({packed_cost(topology.cable(adjacency.cable))});
    }
  }
  return Graph(boost::edges_are_sorted, ends.begin(), ends.end(), steps.begin(),
               static_cast<std::uint32_t>(topology.node_count()));
}

std::vector<std::uint64_t> costs_from(const Topology& topology, NodeIndex source) {
  const Graph graph = make_graph(topology);
  std::vector<std::uint64_t> cost(topology.node_count(), kUnreachable);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::dijkstra_shortest_paths_no_color_map(graph, source.value,
                                              boost::weight_map(boost::get(&Step::cost, graph))
                                                  .distance_map(boost::make_iterator_property_map(cost.begin(), index))
                                                  .distance_inf(kUnreachable));
  return cost;
}

}  // namespace

ShortestPaths shortest_paths_from(const Topology& topology, NodeIndex source) {
  ShortestPaths shortest;
  shortest.source_ = source;
  shortest.cost_ = costs_from(topology, source);
  shortest.last_steps_begin_.reserve(topology.node_count() + 1);
  shortest.last_steps_begin_.push_back(0);
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    const std::uint64_t cost = shortest.cost_[node];
    if (cost != kUnreachable) {
      for (const Adjacency& adjacency : topology.adjacencies(NodeIndex{node})) {
        // The neighbour is reachable, as this node is; so the sum cannot overflow.
        const std::uint64_t through =
            shortest.cost_[adjacency.neighbour.value] + packed_cost(topology.cable(adjacency.cable));
        if (through == cost) shortest.last_steps_.push_back(adjacency);
      }
    }
    shortest.last_steps_begin_.push_back(static_cast<std::uint32_t>(shortest.last_steps_.size()));
  }
  return shortest;
}

bool ShortestPaths::reaches(NodeIndex node) const {
  return node.value < cost_.size() && cost_[node.value] != kUnreachable;
}

PathCost ShortestPaths::cost_to(NodeIndex node) const {
  const std::uint64_t cost = cost_[node.value];
  return {.hops = static_cast<std::uint32_t>(cost >> kLatencyBits), .latency_ns = cost & (kOneHop - 1)};
}

std::span<const Adjacency> ShortestPaths::last_steps(NodeIndex node) const {
  const std::uint32_t begin = last_steps_begin_[node.value];
  return std::span(last_steps_).subspan(begin, last_steps_begin_[node.value + 1] - begin);
}

}  // namespace cableway::routing
