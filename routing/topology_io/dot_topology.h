// Reads topologies in Graphviz's DOT language (https://graphviz.org/doc/info/lang.html), as written by
// `cableway topology --dot`.
//
//     graph lab {                                    // or digraph, with ->; the cluster's name if it is a valid one
//       edge [rate_mbps=100000]                      // applies to the edges that follow
//       n0 -- n1 -- n2 -- n0                         // three cables
//       n2 -- "spark-3" [name=c3, latency_us=2.5]
//       n2 [draining=true]
//     }
//
//   - Supported attributes and defaults: graph_sketch.h.
//   - Cables are bidirectional, so a digraph means the same as a graph. Two edges between the same nodes are two
//     cables; in a `strict` graph they are one, regardless of their direction.
//   - A subgraph only groups its contents, and its defaults end with it. A subgraph as the end of an edge is refused,
//     and so is a node whose name is an HTML string.
//   - The port of a node ("n0:e") only affects drawing and is ignored. So are attributes of graphs.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxDotNesting = 64;  // levels of subgraphs

// Pure: the caller reads the file; `file_name` is used only in messages. At most kMaxTopologyFileBytes.
// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Topology> parse_dot_topology(std::string_view text, std::string_view file_name,
                                            Disconnected disconnected = Disconnected::kRefused);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_
