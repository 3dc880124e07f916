// A node of a topology by the name that somebody gave for it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

// InvalidArgument names some of the nodes that there are.
absl::StatusOr<routing::NodeIndex> node_by_name(const routing::Topology& topology, const std::string& name);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_BY_NAME_H_
