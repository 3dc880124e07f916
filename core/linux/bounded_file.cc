#include "core/linux/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "core/linux/uninterrupted.h"

namespace cableway::linux_ {

absl::StatusOr<UniqueFd> open_file(const std::string& path) {
  // Without O_NONBLOCK a pipe would be waited for here.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return absl::ErrnoToStatus(errno, "cannot be looked at");
  // Devices are for /dev/null, which is how to say that there is nothing.
  if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) {
    return absl::InvalidArgumentError("is no file; expected a regular file");
  }
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

}  // namespace cableway::linux_
