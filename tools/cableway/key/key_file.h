// The cluster's key file on this host: made, shown.
#ifndef CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_FILE_H_
#define CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

inline constexpr char kDefaultKeyFile[] = "/etc/cableway/key";
inline constexpr int kKeyMode = 0600;

enum class NewKey : std::uint8_t {
  kFirst,    // there is no file yet
  kSecond,   // a further line of a file with one key
  kReplace,  // in place of whatever the file has
};

// Writes a new key. Returns the fingerprints of all keys in the file, the sealing key's first. FailedPrecondition names
// the file and what to do: it has a key (kFirst), has no single key (kSecond), or cannot be written
// (system/host_root.h); errors of host::read_keys() otherwise.
absl::StatusOr<std::vector<std::string>> write_new_key(const std::string& path, NewKey kind);

// [{fingerprint, seals}], as in `cableway status --json`.
Json keys_json(const std::vector<std::string>& fingerprints);
// "1a2b3c4d seals; 5e6f7a8b is accepted, too", as in `cableway status`.
std::string fingerprints_text(const std::vector<std::string>& fingerprints);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_KEY_KEY_FILE_H_
