#ifndef CABLEWAY_CORE_LINUX_FILES_KEY_READER_H_
#define CABLEWAY_CORE_LINUX_FILES_KEY_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/crypto/key_ring.h"

namespace cableway::host {

// Reads a key file that only root and this process's user may read. FailedPrecondition if others can read or own it;
// InvalidArgument if it cannot be read or has no keys. Both name the file and the remedy.
absl::StatusOr<KeyRing> read_keys(const std::string& path);

struct KeyFile {
  KeyRing keys;
  std::string text;  // the file's contents, which the caller wipes (core/crypto/key_line.h)
};
// The same, with the text that has these keys.
absl::StatusOr<KeyFile> read_key_file(const std::string& path);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_KEY_READER_H_
