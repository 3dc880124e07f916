#include "routing/paths/max_flow.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cstddef>

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

// Vertices: the nodes; then, for each shared connector, one for its outgoing and one for its incoming capacity.
class CapacityNetwork {
 public:
  CapacityNetwork(const Topology& topology, const PhysicalCables& physical, NodeIndex source, NodeIndex destination)
      : topology_(topology),
        source_(source),
        destination_(destination),
        network_(topology.node_count() + 2 * physical.connectors.size()) {
    for (std::size_t i = 0; i < physical.connectors.size(); ++i) {
      const SharedConnector& connector = physical.connectors[i];
      add_arc(network_, connector.node.value, sender(i), connector.rate_mbps);
      add_arc(network_, receiver(i), connector.node.value, connector.rate_mbps);
    }
    for (const PhysicalCable& cable : physical.cables) add(cable);
  }

  std::uint64_t max_flow() {
    return static_cast<std::uint64_t>(
        boost::push_relabel_max_flow(network_, source_.value, destination_.value,
                                     boost::capacity_map(boost::get(&Arc::capacity, network_))
                                         .residual_capacity_map(boost::get(&Arc::residual, network_))
                                         .reverse_edge_map(boost::get(&Arc::reverse, network_))
                                         .vertex_index_map(boost::get(boost::vertex_index, network_))));
  }

 private:
  std::size_t sender(std::size_t connector) const { return topology_.node_count() + 2 * connector; }
  std::size_t receiver(std::size_t connector) const { return sender(connector) + 1; }

  bool takes_part(NodeIndex node) const {
    return node == source_ || node == destination_ || !topology_.node(node).draining;
  }

  void add(const PhysicalCable& cable) {
    if (!takes_part(cable.a) || !takes_part(cable.b)) return;
    const auto from = [&](NodeIndex node, const auto& shared) { return shared ? sender(*shared) : node.value; };
    const auto to = [&](NodeIndex node, const auto& shared) { return shared ? receiver(*shared) : node.value; };
    add_arc(network_, from(cable.a, cable.shared_at_a), to(cable.b, cable.shared_at_b), cable.rate_mbps);
    add_arc(network_, from(cable.b, cable.shared_at_b), to(cable.a, cable.shared_at_a), cable.rate_mbps);
  }

  const Topology& topology_;
  const NodeIndex source_;
  const NodeIndex destination_;
  Network network_;
};

}  // namespace

std::uint64_t max_flow_mbps(const Topology& topology, NodeIndex source, NodeIndex destination) {
  if (source == destination) return 0;
  return CapacityNetwork(topology, physical_cables(topology), source, destination).max_flow();
}

}  // namespace cableway::routing
