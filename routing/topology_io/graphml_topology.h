// Reads topologies in GraphML (http://graphml.graphdrawing.org/specification.html), as graph editors and libraries
// write it.
//
//     <graphml>
//       <key id="d0" for="edge" attr.name="rate_mbps" attr.type="int"><default>10000</default></key>
//       <graph id="lab" edgedefault="undirected">          the cluster's name if it is a valid one
//         <node id="n0"/> <node id="n1"/>
//         <edge source="n0" target="n1"><data key="d0">100000</data></edge>
//       </graph>
//     </graphml>
//
//   - Keys are identified by attr.name. Supported attributes and defaults: graph_sketch.h. "from" is the source of an
//     edge, "to" its target.
//   - Cables are bidirectional, so edgedefault and directed have no effect.
//   - Nested graphs, hyperedges and a second graph are refused; ports and unknown elements are ignored.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPHML_TOPOLOGY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPHML_TOPOLOGY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Pure: the caller reads the file; `file_name` is used only in messages. At most kMaxTopologyFileBytes, in UTF-8.
// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Topology> parse_graphml_topology(std::string_view text, std::string_view file_name,
                                                Disconnected disconnected = Disconnected::kRefused);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPHML_TOPOLOGY_H_
