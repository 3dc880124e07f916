// From what every node says of itself to the graph that all of it agrees on.
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
  // What was left out although both ends agree on it, and why: an address that two ports share, for example.
  std::vector<std::string> left_out;
};

// Every node that advertises itself, and every cable whose two ends advertise each other over the same two ports.
// Pure; equal databases give equal topologies. InvalidArgument where the database has no advertisement at all.
//
// A cable's rate is that of its slower port. Its name is made of its ends' interfaces (discovered_cable_name()), so it
// stays while cables beside it come and go.
absl::StatusOr<AgreedTopology> agreed_topology(const std::string& cluster, const LinkStateDatabase& database);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_AGREED_TOPOLOGY_H_
