#ifndef CABLEWAY_CORE_LINUX_FILES_TOKEN_READER_H_
#define CABLEWAY_CORE_LINUX_FILES_TOKEN_READER_H_

#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// Reads the token that readers of the page and the metrics must have: 16 to 256 visible ASCII characters, white space
// around them. Errors as in read_secret_file(), and InvalidArgument if the file has no such token.
absl::StatusOr<std::string> read_token(const std::string& path);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_TOKEN_READER_H_
