// Topologies drawn for Graphviz: a graph in DOT (https://graphviz.org/doc/info/lang.html), such as `cableway topology
// --dot` writes.
//
//     graph lab {                                    // or digraph, with ->; the name is the cluster's if it can be
//       edge [rate_mbps=100000]                      // of the edges that follow
//       n0 -- n1 -- n2 -- n0                         // three cables
//       n2 -- "spark-3" [name=c3, latency_us=2.5]
//       n2 [draining=true]
//     }
//
//   - Which attributes count, and what is filled in: graph_sketch.h.
//   - A cable goes both ways: a digraph says no more than a graph. Two edges between the same nodes are two cables; in
//   a
//     `strict` graph they are one, whichever way they point.
//   - A subgraph only groups what is in it, and its defaults end with it. One that is the end of an edge is refused,
//   and
//     so is a node without a name of its own (an HTML string).
//   - The port of a node ("n0:e") says where the edge is drawn, and is ignored. So are attributes of graphs.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxDotNesting = 64;  // subgraphs in each other

// Pure: the caller reads the file; `file_name` only appears in messages. At most kMaxTopologyFileBytes.
// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Topology> parse_dot_topology(std::string_view text, std::string_view file_name,
                                            Disconnected disconnected = Disconnected::kRefused);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_TOPOLOGY_H_
