#include "routing/paths/max_flow.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cstddef>

#include "routing/paths/capacity_arcs.h"
#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

struct Arc {
  std::int64_t capacity = 0;
  std::int64_t residual = 0;
  Traits::edge_descriptor reverse;
};

using Network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arc>;

// Adds an arc and its reverse arc of zero capacity, as Boost requires.
void add_arc(Network& network, std::size_t from, std::size_t to, std::uint64_t capacity) {
  const auto there = boost::add_edge(from, to, network).first;
  const auto back = boost::add_edge(to, from, network).first;
  network[there] = {static_cast<std::int64_t>(capacity), 0, back};
  network[back] = {0, 0, there};
}

}  // namespace

std::uint64_t max_flow_mbps(const Topology& topology, NodeIndex source, NodeIndex destination) {
  if (source == destination) return 0;
  const auto takes_part = [&](NodeIndex node) {
    return node == source || node == destination || !topology.node(node).draining;
  };
  const CapacityArcs capacities = capacity_arcs(topology, physical_cables(topology), takes_part);
  Network network(capacities.vertices);
  for (const CapacityArc& arc : capacities.arcs) add_arc(network, arc.from, arc.to, arc.rate_mbps);
  return static_cast<std::uint64_t>(
      boost::push_relabel_max_flow(network, source.value, destination.value,
                                   boost::capacity_map(boost::get(&Arc::capacity, network))
                                       .residual_capacity_map(boost::get(&Arc::residual, network))
                                       .reverse_edge_map(boost::get(&Arc::reverse, network))
                                       .vertex_index_map(boost::get(boost::vertex_index, network))));
}

}  // namespace cableway::routing
