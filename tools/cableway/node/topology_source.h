// The topology of a command: from a file, a spec, or the node that runs here.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_SOURCE_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_SOURCE_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"
#include "routing/topology/topology.h"
#include "tools/cableway/command/argument.h"

namespace cableway::cli {

// "--file", or other names: `file` of find_topology().
Argument topology_option(std::string& file, std::string names = "--file");

struct KnownTopology {
  routing::Topology topology;
  std::string node;  // the node that was queried, else the one that the settings name
};

// `file` empty: queries the node, with the deadline and the errors of ask_node(); its topology may be disconnected.
// Otherwise `file` is a spec (routing/shapes/topology_generator.h) or the name of a file
// (routing/topology_io/topology_input.h); InvalidArgument gives the fault and its place.
absl::StatusOr<KnownTopology> find_topology(const Settings& settings, const std::string& file,
                                            std::chrono::milliseconds deadline);

// `file` as in find_topology(), not empty.
absl::StatusOr<routing::Topology> read_or_generate_topology(const std::string& file);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_SOURCE_H_
