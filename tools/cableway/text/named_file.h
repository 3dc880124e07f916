// Files that the command line names, read and written whole.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cableway::cli {

// At most the first `limit` bytes, of what host::open_input() opens. InvalidArgument names the file and says why it
// cannot be read.
absl::StatusOr<std::string> read_named_file(const std::string& path, std::size_t limit);

// Whether write_named_file() can be expected to work, without creating anything: to be asked before work that takes
// long. A pipe has to be one that the process was started with (/dev/stdout, /dev/fd/N): no other is sure to have a
// reader. FailedPrecondition names the file.
absl::Status check_writable(const std::string& path);

// Waits for nobody who would have to open a pipe first. FailedPrecondition names the file and says why it cannot be
// written.
absl::Status write_named_file(const std::string& path, const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_NAMED_FILE_H_
