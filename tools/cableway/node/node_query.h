// Asks the node that runs here, in this network namespace, for one of its views.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"

namespace cableway::cli {

struct NodeView {
  Welcome node;
  std::string text;
};

// `view` as in ViewRequest. NotFound: no node runs here, and how to start one. DeadlineExceeded: one runs and has not
// answered for `deadline`. Other errors: it has ended the session, refused, or has no such view.
absl::StatusOr<NodeView> ask_node(const Settings& settings, const std::string& view,
                                  std::chrono::milliseconds deadline);

// How fast the node's cable is: request and errors as in core/session/session_message.h and ask_node().
// FailedPrecondition: the node or its neighbour does not test it, and why.
absl::StatusOr<CableProbeReply> test_cable(const Settings& settings, const CableProbeRequest& request,
                                           std::chrono::milliseconds deadline);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_
