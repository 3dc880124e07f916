// `cableway routes`: how one node reaches the others, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_

#include <memory>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> routes_verb();

// Precondition: `self` is a node of `topology`.
std::string routes_text(const routing::Topology& topology, routing::NodeIndex self);

//   node
//   routes    one per other node:
//     destination, hops
//     paths        ranked; {nodes, cables, weight_mbps, latency_us}, both ends among the nodes; a latency of
//                  null is not known
//     first_path   index in paths of the first flow's path, from 0
std::string routes_json(const routing::Topology& topology, routing::NodeIndex self);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_
