// Files that the command line names, read and written whole.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cableway::cli {

// Reads at most the first `limit` bytes through host::open_input(). InvalidArgument names the file and why it cannot be
// read.
absl::StatusOr<std::string> read_named_file(const std::string& path, std::size_t limit);

// Checks whether write_named_file() will probably succeed, without creating anything; call it before long work. A pipe
// must be inherited (/dev/stdout, /dev/fd/N): others may have no reader. FailedPrecondition names the file.
absl::Status check_writable(const std::string& path);

// Never waits for a pipe to be opened. FailedPrecondition names the file and why it cannot be written.
absl::Status write_named_file(const std::string& path, const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_
