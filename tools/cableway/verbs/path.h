// `cableway path A B`: the paths from one node to another, cable by cable, for people and as JSON.
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
  std::optional<std::uint64_t> flow;  // only the path that this flow of the two takes
};

// Unavailable: no path leads there. Precondition of both: the nodes are the topology's.
absl::StatusOr<std::string> path_text(const routing::Topology& topology, const PathQuery& query);

//   from, to, hops, latency_us, flow (the number asked for, or null)
//   first_path  place in all paths of the one that flow 0 takes, from 0
//   paths       ranked: {rank (from 0), weight_mbps, nodes, hops: {cable, from: {node, interface, address}, to,
//   rate_mbps,
//               latency_us}}
absl::StatusOr<std::string> path_json(const routing::Topology& topology, const PathQuery& query);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PATH_H_
