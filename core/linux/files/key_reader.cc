#include "core/linux/files/key_reader.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/crypto/key_line.h"
#include "core/linux/files/secret_file.h"
#include "routing/text/node_name.h"

namespace cableway::host {

absl::StatusOr<KeyRing> read_keys(const std::string& path) {
  absl::StatusOr<KeyFile> file = read_key_file(path);
  if (!file.ok()) return file.status();
  wipe(file->text);
  return std::move(file->keys);
}

absl::StatusOr<KeyFile> read_key_file(const std::string& path) {
  absl::StatusOr<std::string> text = read_secret_file("key file", "one with 64 hex digits", path, kMaxKeyFileBytes + 1);
  if (!text.ok()) return text.status();
  absl::StatusOr<KeyRing> keys = KeyRing::parse(*text);
  if (keys.ok()) return KeyFile{*std::move(keys), *std::move(text)};
  // The string's capacity is the limit, so it was never reallocated and no copy remains.
  wipe(*text);
  return absl::Status(keys.status().code(), absl::StrCat("key file ", routing::in_quotes(path),
                                                         " is no key file: ", keys.status().message()));
}

}  // namespace cableway::host
