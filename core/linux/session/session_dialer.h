// Finds the node of this network namespace that this process may trust, and connects to it.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_DIALER_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_DIALER_H_

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/session/session_names.h"

namespace cableway::host {

// A connected, non-blocking socket. Does not block. The node is a system node, else one of this process's own user: the
// owner of a name determines where this process's data goes, and any user may bind a name in the abstract namespace.
//
// NotFound: no such node runs; the message names a user that holds the name of this user's node. PermissionDenied: this
// user may not open sessions with the system node; the second line of the message is what to do. FailedPrecondition:
// root's node runs, but is not to be reached from here, or its socket's path cannot be trusted. Unavailable: the node
// accepts no connection now.
absl::StatusOr<UniqueFd> dial_node(const SessionNames& names);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_DIALER_H_
