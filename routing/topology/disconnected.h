// Topologies in parts: whether one is, and how a message says so.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_
#define CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_

#include <optional>
#include <string>

#include "routing/topology/topology.h"

namespace cableway::routing {

// A file that somebody wrote has to be connected; what a running node knows need not be.
enum class Disconnected { kRefused, kAccepted };

struct DisconnectedNode {
  NodeIndex node;       // the first one that the first node does not reach
  std::string message;  // "the topology is disconnected: which nodes cannot reach which; what was expected"
};

// Nothing where every node reaches every other. Draining nodes count as any others.
std::optional<DisconnectedNode> find_disconnected(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_DISCONNECTED_H_
