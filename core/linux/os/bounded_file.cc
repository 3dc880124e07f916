#include "core/linux/os/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/linux/os/uninterrupted.h"

namespace cableway::host {
namespace {

absl::StatusOr<mode_t> mode_of(const UniqueFd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return absl::ErrnoToStatus(errno, "cannot be inspected");
  return status.st_mode;
}

const char* file_kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

absl::Status no_file(mode_t mode, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat("is ", file_kind(mode), "; expected ", expected));
}

}  // namespace

absl::StatusOr<UniqueFd> open_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
  const absl::StatusOr<mode_t> mode = mode_of(file);
  if (!mode.ok()) return mode.status();
  // Devices are accepted for /dev/null, which stands for an empty file.
  if (!S_ISREG(*mode) && !S_ISCHR(*mode)) return no_file(*mode, "a regular file");
  return file;
}

std::optional<int> inherited_descriptor(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  absl::string_view number = path;
  int descriptor = -1;
  if (!absl::ConsumePrefix(&number, "/dev/fd/") && !absl::ConsumePrefix(&number, "/proc/self/fd/")) return std::nullopt;
  if (!absl::SimpleAtoi(number, &descriptor) || descriptor < 0) return std::nullopt;
  return descriptor;
}

absl::StatusOr<UniqueFd> open_input(const std::string& path) {
  constexpr char kExpected[] = "a regular file, /dev/stdin or /dev/fd/N";
  const std::optional<int> inherited = inherited_descriptor(path);
  if (!inherited) {
    absl::StatusOr<UniqueFd> file = open_file(path);
    if (!file.ok()) return file.status();
    const absl::StatusOr<mode_t> mode = mode_of(*file);
    if (!mode.ok()) return mode.status();
    if (!S_ISREG(*mode)) return no_file(*mode, kExpected);
    return file;
  }
  UniqueFd file(::fcntl(*inherited, F_DUPFD_CLOEXEC, 0));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
  const absl::StatusOr<mode_t> mode = mode_of(file);
  if (!mode.ok()) return mode.status();
  if (S_ISDIR(*mode)) return no_file(*mode, kExpected);
  return file;
}

absl::StatusOr<std::string> read_at_most(const UniqueFd& file, std::size_t limit) {
  std::string text(limit, '\0');
  std::size_t have = 0;
  while (have < limit) {
    const ssize_t got = uninterrupted([&] { return ::read(file.get(), text.data() + have, limit - have); });
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

absl::StatusOr<std::string> read_in_pieces(const UniqueFd& file, std::size_t limit) {
  constexpr std::size_t kPiece = 65536;
  std::string text;
  while (text.size() < limit) {
    const std::size_t wanted = std::min(kPiece, limit - text.size());
    const absl::StatusOr<std::string> piece = read_at_most(file, wanted);
    if (!piece.ok()) return piece.status();
    text += *piece;
    if (piece->size() < wanted) break;
  }
  return text;
}

}  // namespace cableway::host
