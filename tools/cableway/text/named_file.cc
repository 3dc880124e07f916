#include "tools/cableway/text/named_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/linux/os/bounded_file.h"
#include "core/linux/os/uninterrupted.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

std::string named(const std::string& path) {
  return absl::StrCat("file ", routing::in_quotes(path, path.size()));
}

absl::Status cannot_write(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error == 0 ? EIO : error);
  return absl::FailedPreconditionError(absl::StrCat(named(path), " cannot be written: ", reason));
}

// Character devices: /dev/null and terminals.
absl::Status check_kind(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) return cannot_write(path, EISDIR);
  if (S_ISREG(mode) || S_ISCHR(mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(named(path), " is ", S_ISFIFO(mode) ? "a pipe" : "no file",
                                                    "; expected a regular file, /dev/stdout or /dev/fd/N"));
}

// An inherited descriptor is appended to at its offset; a file is truncated.
host::UniqueFd open_output(const std::string& path) {
  constexpr mode_t kMode = 0666;
  if (const std::optional<int> inherited = host::inherited_descriptor(path)) {
    return host::UniqueFd(::fcntl(*inherited, F_DUPFD_CLOEXEC, 0));
  }
  // Without O_NONBLOCK, open() would wait for a pipe's reader.
  return host::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode));
}

}  // namespace

absl::StatusOr<std::string> read_named_file(const std::string& path, std::size_t limit) {
  const absl::StatusOr<host::UniqueFd> file = host::open_input(path);
  if (!file.ok()) return absl::InvalidArgumentError(absl::StrCat(named(path), " ", file.status().message()));
  absl::StatusOr<std::string> text = host::read_in_pieces(*file, limit);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(named(path), " ", text.status().message()));
  return text;
}

absl::Status check_writable(const std::string& path) {
  if (const std::optional<int> inherited = host::inherited_descriptor(path)) {
    const int flags = ::fcntl(*inherited, F_GETFL);
    if (flags < 0) return cannot_write(path, errno);
    return (flags & O_ACCMODE) == O_RDONLY ? cannot_write(path, EBADF) : absl::OkStatus();
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there) {
    if (absl::Status kind = check_kind(path, status.st_mode); !kind.ok()) return kind;
  }
  const std::string checked = is_there ? path : folder.empty() ? "." : folder.string();
  return ::access(checked.c_str(), W_OK) == 0 ? absl::OkStatus() : cannot_write(path, errno);
}

absl::Status write_named_file(const std::string& path, const std::string& text) {
  const host::UniqueFd file = open_output(path);
  if (file.get() < 0) return cannot_write(path, errno);
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = host::uninterrupted([&] { return ::write(file.get(), left.data(), left.size()); });
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno != EAGAIN) return cannot_write(path, errno);
    pollfd watched{file.get(), POLLOUT, 0};
    if (host::uninterrupted([&] { return ::poll(&watched, 1, -1); }) < 0) return cannot_write(path, errno);
  }
  return absl::OkStatus();
}

}  // namespace cableway::cli
