// The names of cables that nobody named.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_
#define CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// "<node>-<node>": a cable of a topology file, where parallel ones get a number after it.
std::string default_cable_name(std::string_view first_node, std::string_view second_node);

// Gives every cable without a name the one above, then "..-2", "..-3" where another cable has that. Precondition: the
// ends are nodes that exist.
void name_cables(std::span<const Node> nodes, std::vector<Cable>& cables);

// "<node>.<interface>-<node>.<interface>": a cable that the nodes found by themselves. Both ends give it the same name:
// the node that comes first in the topology's order (natural_less) is named first. Characters outside [A-Za-z0-9._-]
// become '_'. At most kMaxCableNameLength characters if the names of nodes and interfaces are valid. Two cables share a
// name only if they join the same two interfaces, or interfaces that differ in replaced characters alone.
std::string discovered_cable_name(std::string_view node, std::string_view interface, std::string_view other_node,
                                  std::string_view other_interface);

// The interfaces that are in a name as discovered_cable_name() makes it of these two nodes, each at its node's end.
// nullopt: it is no such name.
struct CableInterfaces {
  std::string node;
  std::string other_node;
  friend bool operator==(const CableInterfaces&, const CableInterfaces&) = default;
};
std::optional<CableInterfaces> interfaces_in_name(std::string_view cable, std::string_view node,
                                                  std::string_view other_node);

// Whether the name of `cable`, which is one of the topology's, says nothing that its ends do not: it is a default or a
// discovered one, in either direction.
bool has_default_name(const Topology& topology, const Cable& cable);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_
