// The topology file (TOML): describes a cluster that is not cabled yet, for the command line. Nodes discover theirs.
//
//     cluster = "lab"            # optional, default "cableway"
//     [[node]]
//     name = "n0"                # [A-Za-z0-9._-]{1,63}
//     relay_port = 7470          # optional
//     draining = false           # optional: the node relays nothing
//     plugs = [{name = "p0", rate_mbps = 200000}]    # optional: one not listed has its fastest cable's rate
//     roots = [{name = "r0", rate_mbps = 98300}]     # likewise, PCIe links
//     [[cable]]
//     name = "c0"                # optional, default "<first end>-<second end>"; parallel cables: "..-2", "..-3"
//     ends = [{node = "n0", interface = "eth1", address = "10.7.0.1"},     # interface optional
//             {node = "n1", interface = "eth0", address = "10.7.0.2", plug = "p0", root = "r0"}]     # both optional
//     rate_mbps = 10000          # optional, per direction
//     latency_us = 1             # optional, one way; without it the latency is not known
//     routed = false             # optional: the addresses reach each other through IP routers
//     draining = false           # optional: plugged in, but no path leads over the cable
//     loss_percent = 5           # optional: of packets, 1 to 100; paths use such cables last
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_FILE_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxTopologyFileBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxTopologyFileLineBytes = 1024;  // bounds the nesting depth of dotted keys

// Pure: the caller reads the file; `file_name` is used only in messages. Draining nodes and cables count like any
// others when the result is checked for being connected.
// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Topology> parse_topology(std::string_view text, std::string_view file_name,
                                        Disconnected disconnected = Disconnected::kRefused);

// Text that parse_topology() parses back to an equal topology.
std::string to_topology_file(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_FILE_H_
