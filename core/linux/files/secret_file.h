// Reads small files that only root and this process's user may read: keys and tokens.
#ifndef CABLEWAY_CORE_LINUX_FILES_SECRET_FILE_H_
#define CABLEWAY_CORE_LINUX_FILES_SECRET_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// The file's first `limit` bytes; no copy of them is left in memory beside the result. `what` begins every message,
// and `expected` says what such a file has: "key file", "one with 64 hex digits". FailedPrecondition if others can read
// or own the file; InvalidArgument if it cannot be read. Messages name the file and the remedy.
absl::StatusOr<std::string> read_secret_file(const std::string& what, const std::string& expected,
                                             const std::string& path, std::size_t limit);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_SECRET_FILE_H_
