// Reads files that a user names: opening never waits for another process, and reading is bounded. Callable from any
// thread.
#ifndef CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_
#define CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// NotFound, PermissionDenied and so on, from the errno; InvalidArgument for a folder, a pipe or a socket. The message
// continues a file's name: "cannot be opened: ..".
absl::StatusOr<UniqueFd> open_file(const std::string& path);

// The descriptor that a path like /dev/stdin or /dev/fd/3 refers to, as inherited at the process's start.
std::optional<int> inherited_descriptor(const std::string& path);

// Opens a regular file, or the descriptor that inherited_descriptor() returns, which may be a pipe or a terminal: a
// read then waits while there is a writer, and ends when there is none. Refuses all other files, so that reading
// cannot wait without end. Errors as in open_file(); devices are also InvalidArgument.
absl::StatusOr<UniqueFd> open_input(const std::string& path);

// The whole file, or its first `limit` bytes if it is longer. Leaves no copies elsewhere in memory. The message
// continues a file's name.
absl::StatusOr<std::string> read_at_most(const UniqueFd& file, std::size_t limit);

// The same where copies do not matter: reads in pieces, so that a large limit does not allocate memory for a small
// file.
absl::StatusOr<std::string> read_in_pieces(const UniqueFd& file, std::size_t limit);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_BOUNDED_FILE_H_
