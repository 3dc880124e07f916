// Where a command takes the topology from: a file, a spec, or the node that runs here.
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
  std::string node;  // whose it is: the node that was asked; else the one that the settings name
};

// `file` empty: asks the node, with the deadline and the errors of ask_node(); what it knows may be disconnected. Else
// it is a spec (routing/shapes/topology_generator.h) or the name of a file (routing/topology_io/topology_input.h);
// InvalidArgument says what is wrong with it and where.
absl::StatusOr<KnownTopology> find_topology(const Settings& settings, const std::string& file,
                                            std::chrono::milliseconds deadline);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_SOURCE_H_
