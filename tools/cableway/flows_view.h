// `cableway flows`: the circuits that pass through the node here, for people and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_FLOWS_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_FLOWS_VIEW_H_

#include <string>

#include "absl/status/statusor.h"

namespace cableway::cli {

// Both take the node's status (core/status_view.h). InvalidArgument: that is no such status.
absl::StatusOr<std::string> flows_text(const std::string& answer);

//   node
//   flows     {flow (16 hex digits), path, chunks, bytes, open_ms, mean_mbps: since it was opened}
//   left_out  open circuits that the node did not list, for their number
absl::StatusOr<std::string> flows_json(const std::string& answer);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_FLOWS_VIEW_H_
