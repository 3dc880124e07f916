// Starts this host's node if none is running: `cablewayd --session`, in its own process session, so that it outlives
// the rank that started it.
#ifndef CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_
#define CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace cableway::host {

// How long a starting process waits for its node, and how long the node then waits for the first process to join.
inline constexpr std::chrono::milliseconds kNodeJoinLimit{10000};

// Returns once the started node, or another, answers sessions. The status contains the daemon's output if it could not
// start. Blocks for at most `limit`.
absl::Status start_node(const std::string& daemon, std::chrono::milliseconds limit);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_NODE_STARTER_H_
