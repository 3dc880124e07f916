// Default and discovered names of cables.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_
#define CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// "<node>-<node>": the default name of a cable in a topology file; parallel cables get a number appended.
std::string default_cable_name(std::string_view first_node, std::string_view second_node);

// Gives every cable without a name its default name, then "..-2", "..-3" if another cable has that. Precondition: the
// ends are existing nodes.
void name_cables(std::span<const Node> nodes, std::vector<Cable>& cables);

// "<node>.<interface>-<node>.<interface>": a cable that the nodes discovered. Both ends give it the same name: the node
// that comes first in the topology's order (natural_less) is named first. Characters outside [A-Za-z0-9._-] become '_'.
// At most kMaxCableNameLength characters if the names of nodes and interfaces are valid. Two cables share a name only
// if they join the same two interfaces, or interfaces that differ only in replaced characters.
std::string discovered_cable_name(std::string_view node, std::string_view interface, std::string_view other_node,
                                  std::string_view other_interface);

// The interfaces in a name made by discovered_cable_name() for these two nodes, each with its node. nullopt: the name
// does not have that form.
struct CableInterfaces {
  std::string node;
  std::string other_node;
  friend bool operator==(const CableInterfaces&, const CableInterfaces&) = default;
};
std::optional<CableInterfaces> interfaces_in_name(std::string_view cable, std::string_view node,
                                                  std::string_view other_node);

// Whether the name of `cable`, which is one of the topology's, is a default or a discovered one, in either direction,
// and thus adds nothing to its ends.
bool has_default_name(const Topology& topology, const Cable& cable);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_CABLE_NAME_H_
