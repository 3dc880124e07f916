// Starts this host's node where none runs: `cablewayd --session`, in a process session of its own, so that it outlives
// the rank that happened to come first.
#ifndef CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_
#define CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace cableway::host {

// Whoever starts a node has as long to wait for it, and then as long to join it before it may leave.
inline constexpr std::chrono::milliseconds kNodeJoinLimit{10000};

// Returns once the node answers sessions, or another one does. The status carries what the daemon said if it could not
// start. Blocks, for `limit` at most.
absl::Status start_node(const std::string& daemon, std::chrono::milliseconds limit);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_
