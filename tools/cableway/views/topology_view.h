// `cableway topology`: the topology, for people and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VIEWS_TOPOLOGY_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_VIEWS_TOPOLOGY_VIEW_H_

#include <string>

#include "routing/topology/topology.h"

namespace cableway::cli {

// The drawing, then a table of all cables.
std::string topology_text(const routing::Topology& topology);

//   cluster
//   nodes    {name, relay_port, draining}
//   cables   {name, ends: two of {node, interface, address, plug ("" where it is not known)}, rate_mbps, latency_us,
//            routed}
// in the topology's own order.
std::string topology_json(const routing::Topology& topology);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VIEWS_TOPOLOGY_VIEW_H_
