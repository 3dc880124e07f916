// `cableway path A B`: the paths from one node to another, cable by cable, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PATH_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> path_verb();

struct PathQuery {
  routing::NodeIndex from;
  routing::NodeIndex to;
  std::optional<std::uint64_t> flow;  // only the path of this flow between the two
};

// Unavailable: there is no path. Precondition of both: the nodes are nodes of `topology`.
absl::StatusOr<std::string> path_text(const routing::Topology& topology, const PathQuery& query);

//   from, to, hops, flow (the requested number, or null)
//   first_path  index of flow 0's path among all paths, from 0
//   paths       ranked: {rank (from 0), weight_mbps, latency_us, nodes, hops: {cable, from: {node, interface, address},
//               to, rate_mbps, latency_us}}; a latency of null is not known
absl::StatusOr<std::string> path_json(const routing::Topology& topology, const PathQuery& query);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PATH_H_
