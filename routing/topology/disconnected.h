// Detects and describes disconnected topologies.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_
#define CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_

#include <optional>
#include <string>

#include "routing/topology/topology.h"

namespace cableway::routing {

// A topology file has to be connected; the topology that a running node has discovered need not be.
enum class Disconnected { kRefused, kAccepted };

struct DisconnectedNode {
  NodeIndex node;       // the first node that node 0 does not reach
  std::string message;  // "the topology is disconnected: which nodes cannot reach which; what was expected"
};

// nullopt if every node reaches every other. Draining nodes and unused cables count like any others.
std::optional<DisconnectedNode> find_disconnected(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_
