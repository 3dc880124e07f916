// `cableway flows`: the flows of this host's processes and the circuits through the node here, each with its transport
// and why, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_FLOWS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_FLOWS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> flows_verb();

// Both parse the node's status (core/view/status_view.h). InvalidArgument: it is not a status view.
absl::StatusOr<std::string> flows_text(const std::string& answer, const Look& look = {});

//   node
//   flows              of this host's processes, as in core/view/status_view.h
//   flows_left_out     number of open flows that the node did not list
//   circuits           through this node: {flow, path, chunks, bytes, open_ms, mean_mbps (since it was opened),
//                      upstream, downstream (each {transport, reason})}
//   circuits_left_out
absl::StatusOr<std::string> flows_json(const std::string& answer);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_FLOWS_H_
