// The address where a node and its applications connect: an abstract Unix socket, so that containers with the host's
// network reach it without a mount, and it vanishes with the node. Binding it also serves as the lock that limits a
// network namespace to one node.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_SOCKET_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_SOCKET_H_

#include <boost/asio/local/stream_protocol.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// "cableway/<cluster>/<runtime dir>", in the abstract namespace. InvalidArgument: too long for a socket's name.
absl::StatusOr<boost::asio::local::stream_protocol::endpoint> session_endpoint(const std::string& cluster,
                                                                               const std::string& runtime_dir);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_SOCKET_H_
