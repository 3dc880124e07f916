// The rules for a valid topology, and the check that reports the first violation.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_CHECK_H_
#define CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_CHECK_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "routing/topology/topology.h"

namespace cableway::routing {

struct TopologyFault {
  enum class At { kTopology, kNode, kCable };
  enum class Part { kWhole, kName, kRelayPort, kPlugs, kRoots, kEndA, kEndB, kRate, kLatency };

  At at = At::kTopology;
  std::size_t index = 0;  // of the node or cable, in the order they were given
  Part part = Part::kWhole;
  std::string message;  // "what is wrong; what was expected"
};
inline constexpr std::size_t kTopologyParts = 9;

// Whether `name` is empty or a valid name of a plug or root: at most kMaxPlugLength letters, digits, and . _ : -
bool is_valid_part_name(std::string_view name);

// The first broken rule, if any:
//   - 1 to kMaxNodes nodes, at most kMaxCables cables;
//   - node names valid and unique, relay ports not 0; cable names valid (cable_name.h) and unique;
//   - of a node, at most kMaxSharedParts plugs and as many roots, each with a name of its own and a rate within its
//     bounds;
//   - the ends of a cable are two different existing nodes, with addresses of one family, valid interface names (or
//     none), and valid plugs and roots (or none); an IPv6 link-local address names its interface;
//   - each node knows one port by an address: those of its own ports and of the other ends of its cables differ, except
//     link-local ones of different nodes. Nodes that share no neighbour may use the same addresses, as data is sent
//     from neighbour to neighbour. Two cable ends are one port if node, address and a non-empty interface agree; then
//     their plugs and roots agree too;
//   - no two cables join the same two ports;
//   - rates and latencies within their bounds, and no cable faster than a plug or root at its ends that its node lists.
std::optional<TopologyFault> find_topology_fault(std::span<const Node> nodes, std::span<const Cable> cables);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_CHECK_H_
