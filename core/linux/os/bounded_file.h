// Files that somebody names: opened without ever waiting for another process, read without ever taking more than is
// sensible. Callable from any thread.
#ifndef CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_
#define CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// NotFound, PermissionDenied and so on as the kernel says it; InvalidArgument for a folder, a pipe or a socket. The
// message continues a file's name: "cannot be opened: ..".
absl::StatusOr<UniqueFd> open_file(const std::string& path);

// The descriptor that a path like /dev/stdin or /dev/fd/3 stands for: what the process was started with.
std::optional<int> inherited_descriptor(const std::string& path);

// A regular file, or what inherited_descriptor() knows, which may be a pipe or a terminal: that waits for its writer as
// long as there is one, and ends when there is none. Everything else is refused, so that nothing is waited for that
// never comes. Errors as those of open_file(); devices are InvalidArgument, too.
absl::StatusOr<UniqueFd> open_input(const std::string& path);

// All of the file, or its first `limit` bytes if it has more. Leaves no copies elsewhere in memory. The message
// continues a file's name.
absl::StatusOr<std::string> read_at_most(const UniqueFd& file, std::size_t limit);

// The same, where no copies matter: in pieces, so that a large limit costs nothing where there is little to read.
absl::StatusOr<std::string> read_in_pieces(const UniqueFd& file, std::size_t limit);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_
