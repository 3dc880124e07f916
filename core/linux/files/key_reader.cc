#include "core/linux/files/key_reader.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/bounded_file.h"
#include "routing/text/node_name.h"

namespace cableway::host {
namespace {

std::string named(const std::string& path, absl::string_view message) {
  return absl::StrCat("key file ", routing::in_quotes(path), " ", message);
}

absl::Status check_access(const UniqueFd& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return absl::ErrnoToStatus(errno, named(path, "cannot be inspected"));
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(named(path, "is not a regular file; expected one with 64 hex digits"));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return absl::FailedPreconditionError(
        named(path, absl::StrCat("is owned by user ", status.st_uid, "; expected root or user ", ::geteuid(),
                                 ", which this process runs as: chown it")));
  }
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if ((status.st_mode & kOthers) != 0) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
    return absl::FailedPreconditionError(named(
        path, absl::StrCat("has mode ", mode.data(), ", which gives other users access; expected 0600: chmod 600 ",
                           routing::escaped(path))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeyRing> read_keys(const std::string& path) {
  const absl::StatusOr<UniqueFd> file = open_file(path);
  if (!file.ok()) return absl::InvalidArgumentError(named(path, file.status().message()));
  if (absl::Status status = check_access(*file, path); !status.ok()) return status;
  absl::StatusOr<std::string> text = read_at_most(*file, kMaxKeyFileBytes + 1);
  if (!text.ok()) return absl::InvalidArgumentError(named(path, text.status().message()));
  absl::StatusOr<KeyRing> keys = KeyRing::parse(*text);
  // The string's capacity is the limit, so it was never reallocated and no copy remains.
  ::explicit_bzero(text->data(), text->size());
  if (keys.ok()) return keys;
  return absl::Status(keys.status().code(), named(path, absl::StrCat("is no key file: ", keys.status().message())));
}

}  // namespace cableway::host
