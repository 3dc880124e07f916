#include "core/linux/files/secret_file.h"

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

// `named`: "key file "/etc/key" ".
absl::Status check_access(const UniqueFd& file, const std::string& named, const std::string& expected,
                          const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(named, "cannot be inspected"));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(named, "is not a regular file; expected ", expected));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(named, "is owned by user ", status.st_uid,
                                                      "; expected root or user ", ::geteuid(),
                                                      ", which this process runs as: chown it"));
  }
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if ((status.st_mode & kOthers) == 0) return absl::OkStatus();
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
  return absl::FailedPreconditionError(absl::StrCat(named, "has mode ", mode.data(),
                                                    ", which gives other users access; expected 0600: chmod 600 ",
                                                    routing::escaped(path)));
}

}  // namespace

absl::StatusOr<std::string> read_secret_file(const std::string& what, const std::string& expected,
                                             const std::string& path, std::size_t limit) {
  const std::string named = absl::StrCat(what, " ", routing::in_quotes(path), " ");
  const absl::StatusOr<UniqueFd> file = open_file(path);
  if (!file.ok()) return absl::InvalidArgumentError(absl::StrCat(named, file.status().message()));
  if (absl::Status status = check_access(*file, named, expected, path); !status.ok()) return status;
  absl::StatusOr<std::string> text = read_at_most(*file, limit);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(named, text.status().message()));
  return text;
}

}  // namespace cableway::host
