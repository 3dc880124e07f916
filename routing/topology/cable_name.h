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

// default_cable_name() of the two nodes with the one first that comes first in the topology's order (natural_less).
std::string pair_name(std::string_view a, std::string_view b);

// Gives every cable without a name its default name, then "..-2", "..-3" if another cable has that. Precondition: the
// ends are existing nodes.
void name_cables(std::span<const Node> nodes, std::vector<Cable>& cables);

// Whether `name` may be that of a cable: is_valid_name(), or the second form of discovered_cable_name(), with valid
// names of nodes and interfaces; at most kMaxCableNameLength characters.
bool is_valid_cable_name(std::string_view name);

// What a message says after the quoted name, as name_fault() does. Precondition: the name is not valid.
std::string cable_name_fault(std::string_view name);

// The name of a cable that the nodes discovered. Both ends give it the same name: the node that comes first in the
// topology's order (natural_less) is named first. Two cables share a name only if they join the same two interfaces of
// the same two nodes, whoever chose the names. So there are two forms:
//   - "<node>.<interface>-<node>.<interface>" if no node's name has a dot, and the interfaces have letters, digits and
//     '_' only: the first dot ends the first node's name, the next '-' ends its interface.
//   - "<node>:<interface>:<node>:<interface>" for all others. No name of a node or an interface has a ':'.
// Preconditions: the names of nodes and interfaces are valid, and the nodes differ. The result is a valid name.
std::string discovered_cable_name(std::string_view node, std::string_view interface, std::string_view other_node,
                                  std::string_view other_interface);

// The interfaces in a name made by discovered_cable_name() for these two nodes, each with its node. nullopt: it makes
// no such name for them.
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
