// Reads topology files of all supported formats, selected by file name extension:
//     .toml, or none        the topology file (topology_file.h)
//     .json                 what `cableway topology --json` prints (json_topology.h)
// Graphs of other programs (Graphviz, GraphML) are refused with what converts them:
// docs/decisions/0033-topology-files.md.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_INPUT_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_INPUT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Pure: the caller reads the file. A disconnected topology is refused, unless it is JSON: that is a snapshot of a
// running cluster.
// Every error is InvalidArgument, begins with the file's name, and gives the position, what is wrong and what was
// expected.
absl::StatusOr<Topology> parse_topology_input(std::string_view text, std::string_view file_name);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_INPUT_H_
