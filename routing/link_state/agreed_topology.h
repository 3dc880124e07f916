// Builds the graph on which the nodes' advertisements agree.
#ifndef CABLEWAY_ROUTING_LINK_STATE_AGREED_TOPOLOGY_H_
#define CABLEWAY_ROUTING_LINK_STATE_AGREED_TOPOLOGY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/link_state/link_state_database.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct AgreedTopology {
  Topology topology;
  // Cables that both ends advertise but that were left out, each with the reason, e.g. an address that two ports of one
  // node's neighbours share.
  std::vector<std::string> left_out;
};

// Contains every node with an advertisement, and every cable whose two ends advertise each other over the same two
// ports, and each with the address that the other end has heard of, where that says one. Pure; equal databases give
// equal topologies. InvalidArgument if the database has no advertisement.
//
// A cable's rate is that of its slower port, and at most that of each plug and root at its ends; its latency is the
// lower of what its ends have measured. It drains if either end says so; its loss is that of its worse direction. A
// cable's name is made of its ends' interfaces (discovered_cable_name()), so adding or removing other cables does not
// change it. A plug has the rate of the fastest link among its ports.
absl::StatusOr<AgreedTopology> agreed_topology(const std::string& cluster, const LinkStateDatabase& database);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_AGREED_TOPOLOGY_H_
