#include "core/linux/files/key_reader.h"

#include <string.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/secret_file.h"
#include "routing/text/node_name.h"

namespace cableway::host {

absl::StatusOr<KeyRing> read_keys(const std::string& path) {
  absl::StatusOr<std::string> text = read_secret_file("key file", "one with 64 hex digits", path, kMaxKeyFileBytes + 1);
  if (!text.ok()) return text.status();
  absl::StatusOr<KeyRing> keys = KeyRing::parse(*text);
  // The string's capacity is the limit, so it was never reallocated and no copy remains.
  ::explicit_bzero(text->data(), text->size());
  if (keys.ok()) return keys;
  return absl::Status(keys.status().code(), absl::StrCat("key file ", routing::in_quotes(path),
                                                         " is no key file: ", keys.status().message()));
}

}  // namespace cableway::host
