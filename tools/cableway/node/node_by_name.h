// A node of a topology by its name.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

// InvalidArgument lists some of the existing nodes.
absl::StatusOr<routing::NodeIndex> node_by_name(const routing::Topology& topology, const std::string& name);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_
