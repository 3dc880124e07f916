// Writes and reads topologies as JSON: the answer of a node, printed by `cableway topology --json`. Reading it allows a
// cluster's state to be inspected elsewhere.
//
// The form that is read:
//
//     {"cluster": "lab",                                                              optional, default "cableway"
//      "nodes": [{"name": "n0", "relay_port": 7470, "draining": false,                all but name optional
//                 "plugs": [{"name": "p0", "rate_mbps": 200000}], "roots": []}],
//      "cables": [{"name": "c0",                                                      optional, as in the topology file
//                  "ends": [{"node": "n0", "interface": "", "address": "10.7.0.1", "plug": "", "root": ""},
//                           {"node": "n1", "interface": "", "address": "10.7.0.2", "plug": "", "root": ""}],
//                  "rate_mbps": 10000, "latency_us": null, "routed": false,           optional, as in the topology file
//                  "draining": false}]}
//
// Members `expected` and `gone`, which the command line writes, are ignored. The others mean the same as in the
// topology file; an empty interface, plug or root is absent, and a latency of null is not known. Written documents have
// all members but `loss_percent`, which only lossy cables have, and each node and cable on a line of its own; cables
// that no path is to use (draining, lossy) are last.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_JSON_TOPOLOGY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_JSON_TOPOLOGY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxJsonDepth = 8;
inline constexpr std::size_t kMaxJsonValues = std::size_t{2} << 20;  // a topology of kMaxCables has some 1.5 million

// Pure: the caller reads the file; `file_name` is used only in messages. At most kMaxTopologyFileBytes.
// Every error is InvalidArgument and says what is wrong and what was expected. It begins "FILE:LINE: " if the text is
// not JSON, else "FILE: at PLACE: " with the place as a JSON pointer (RFC 6901) such as /cables/3/rate_mbps.
absl::StatusOr<Topology> parse_json_topology(std::string_view text, std::string_view file_name,
                                             Disconnected disconnected = Disconnected::kRefused);

// Text that parse_json_topology() parses back to an equal topology. Nodes and cables are in the topology's order.
std::string to_json_topology(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_JSON_TOPOLOGY_H_
