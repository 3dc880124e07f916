// Queries the node that runs in this network namespace for one of its views, and makes requests of it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"

namespace cableway::cli {

struct NodeView {
  Welcome node;
  std::string text;
};

// `view` as in ViewRequest. NotFound: no node runs here; the message tells how to start one. DeadlineExceeded: the node
// did not answer within `deadline`. Other errors: the node closed the session, refused, or has no such view.
absl::StatusOr<NodeView> ask_node(const Settings& settings, const std::string& view,
                                  std::chrono::milliseconds deadline);

struct AllNodesView {
  Welcome node;
  std::vector<NodeAnswer> answers;  // each node's, this one's too, in the order in which they came
  std::size_t unheard = 0;          // nodes of which nothing had come at the deadline
};

// The view of all nodes, which the node here asks for it. `view` as in ClusterViewRequest. Errors as ask_node();
// `deadline` is for all of it; what has come by then counts.
absl::StatusOr<AllNodesView> ask_all_nodes(const Settings& settings, const std::string& view,
                                           std::chrono::milliseconds deadline);

// Measures cables' rates; request and errors as in core/session/session_message.h and ask_node(). FailedPrecondition:
// why the node tests none of them.
absl::StatusOr<CableProbeReply> test_cables(const Settings& settings, const CableProbeRequest& request,
                                            std::chrono::milliseconds deadline);

// Errors as ask_node(); FailedPrecondition: why the node has changed nothing.
absl::Status request_drain(const Settings& settings, const DrainRequest& request, std::chrono::milliseconds deadline);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_QUERY_H_
