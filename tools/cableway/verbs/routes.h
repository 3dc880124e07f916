// `cableway routes`: how one node reaches the others, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_

#include <iosfwd>
#include <memory>

#include "routing/topology/topology.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> routes_verb();

// Both write row by row, because all paths of a node together can take gigabytes; they end early if `out` fails.
// Precondition: `self` is a node of `topology`.
void write_routes_text(const routing::Topology& topology, routing::NodeIndex self, std::ostream& out);

//   node
//   routes    one per other node:
//     destination, hops
//     paths        ranked; {nodes, cables, weight_mbps, latency_us}, both ends among the nodes; a latency of
//                  null is not known
//     first_path   index in paths of the first flow's path, from 0
void write_routes_json(const routing::Topology& topology, routing::NodeIndex self, std::ostream& out);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_ROUTES_H_
