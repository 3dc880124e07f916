// Copies the key file to another host over ssh. The key goes through standard input: it is in no command line, here or
// there.
#ifndef CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_COPY_H_
#define CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_COPY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cableway/system/program.h"

namespace cableway::cli {

struct KeyCopy {
  std::string path;  // on the other host, absolute
  bool sudo = false;
  bool replace = false;  // also a key with which that host and its neighbours could not go on
  std::string ssh = "ssh";
  std::chrono::milliseconds deadline{30000};
};

enum class CopyEnd : std::uint8_t { kCopied, kHadIt, kOtherKey, kNotCopied };

struct CopyOutcome {
  CopyEnd end;
  std::string reason;  // of kOtherKey and kNotCopied
};

// InvalidArgument: it is no host as ssh takes it (routing/text/ssh_host.h).
absl::Status check_ssh_host(const std::string& host);

// The words for a POSIX shell, in one line: it reads a key file of `bytes` bytes from standard input, and ends with the
// line "cableway-key: done", "same", "other" or "failed REASON". A file that is there is replaced without `replace` if
// the first key of each file is in the other one: that is each step of a change of the key (docs/security.md), in which
// every node accepts what its neighbours seal with.
std::string key_copy_script(const KeyCopy& copy, std::size_t bytes);

// `key_text`: the contents of the file.
CopyOutcome copy_key(const std::string& host, const std::string& key_text, const KeyCopy& copy,
                     const ProgramRunner& runner);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_COPY_H_
