#include "tools/cableway/key/key_file.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/crypto/key_line.h"
#include "core/linux/files/key_reader.h"
#include "core/linux/os/random_value.h"
#include "routing/text/node_name.h"
#include "tools/cableway/system/host_root.h"

namespace cableway::cli {
namespace {

absl::Status key_file_fault(const std::string& path, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat("key file ", routing::in_quotes(path, path.size()), " ", what));
}

// What stands before the new key.
absl::StatusOr<std::string> kept_text(const std::string& path, NewKey kind) {
  if (kind == NewKey::kReplace) return std::string();
  const absl::StatusOr<std::optional<HostFile>> present = HostRoot().read(path);
  if (!present.ok()) return present.status();
  if (kind == NewKey::kFirst) {
    if (!*present) return std::string();
    return key_file_fault(path,
                          "exists; expected --second, which adds a key to change it without a pause, or --replace");
  }
  if (!*present) return key_file_fault(path, "does not exist; --second adds to a key that is there");
  absl::StatusOr<host::KeyFile> file = host::read_key_file(path);
  if (!file.ok()) return file.status();
  if (file->keys.fingerprints().size() > 1) {
    wipe(file->text);
    return key_file_fault(path, "has two keys; --second adds to one key: end the earlier change of the key first");
  }
  if (!absl::EndsWith(file->text, "\n")) file->text.push_back('\n');
  return std::move(file->text);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> write_new_key(const std::string& path, NewKey kind) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  absl::StatusOr<std::string> text = kept_text(absolute, kind);
  if (!text.ok()) return text.status();
  auto secret = host::random_value<std::array<std::byte, SubKey::kBytes>>();
  std::string line = key_line(secret);
  wipe(std::span<std::byte>(secret));
  HostFile file{.text = absl::StrCat(*text, line), .mode = kKeyMode};
  const absl::Status written = HostRoot().write(absolute, file);
  for (std::string* each : {&*text, &line, &file.text}) wipe(*each);
  if (!written.ok()) return written;
  const absl::StatusOr<KeyRing> keys = host::read_keys(absolute);
  if (!keys.ok()) return keys.status();
  return keys->fingerprints();
}

Json keys_json(const std::vector<std::string>& fingerprints) {
  Json keys = Json::array();
  for (const std::string& each : fingerprints) keys.push_back({{"fingerprint", each}, {"seals", keys.empty()}});
  return keys;
}

std::string fingerprints_text(const std::vector<std::string>& fingerprints) {
  return absl::StrCat(absl::StrJoin(fingerprints, " seals; "),
                      fingerprints.size() > 1 ? " is accepted, too" : " seals");
}

}  // namespace cableway::cli
