// Files of a host, below a folder that stands for its root: "/", or a test's own.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SYSTEM_HOST_ROOT_H_
#define CABLEWAY_TOOLS_CABLEWAY_SYSTEM_HOST_ROOT_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::cli {

inline constexpr std::size_t kMostHostFileBytes = std::size_t{64} << 20;

struct HostFile {
  std::string text;
  mode_t mode = 0644;  // permissions alone

  friend bool operator==(const HostFile&, const HostFile&) = default;
};

// Paths are absolute: "/etc/cableway/key". Every error is FailedPrecondition, or PermissionDenied of a file that this
// process may not read, and names the path and the reason. Files are refused that are no regular ones, links included.
// A file is not written where its folder belongs to, or can be written by, other users than root and this process's.
class HostRoot {
 public:
  // `root`: empty for "/".
  explicit HostRoot(std::string root = "") : root_(std::move(root)) {}

  // Nullopt: there is none. At most kMostHostFileBytes. Any user may own the file: its text is not to be trusted more
  // than its owner.
  absl::StatusOr<std::optional<HostFile>> read(const std::string& path) const;
  // The same, but refuses a file that other users than root and this process's may have written.
  absl::StatusOr<std::optional<HostFile>> read_own(const std::string& path) const;

  // Replaces the file as a whole: a reader finds the earlier or the new one, also after a power failure. A file that is
  // replaced keeps its owner. Folders that are missing are created, below one that passes the check above. A file that
  // could not be read again, as it is too large, is refused.
  absl::Status write(const std::string& path, const HostFile& file) const;
  absl::Status remove(const std::string& path) const;
  // Held until the descriptor is closed, by one process at a time: FailedPrecondition if another one has it. The file
  // is for root alone.
  absl::StatusOr<host::UniqueFd> lock(const std::string& path) const;
  // Those above the path that are not there, outermost first.
  std::vector<std::string> missing_folders(const std::string& path) const;
  // Removes the folder if it is there and empty.
  void remove_empty_folder(const std::string& path) const;

  // Of the kernel's parameters in /proc/sys: a line without its newline. Nullopt: there is none.
  std::optional<std::string> read_value(const std::string& path) const;
  absl::Status write_value(const std::string& path, const std::string& value) const;

  // Whether there is an entry of any kind; links are followed.
  bool exists(const std::string& path) const;
  bool has_folder(const std::string& path) const;
  // Names of the entries of a folder, sorted; empty if there is none.
  std::vector<std::string> names_in(const std::string& path) const;

 private:
  std::string at(const std::string& path) const { return root_ + path; }
  // Creates the missing folders above the path; refuses if the folder above them does not pass the check of write().
  absl::Status make_folders(const std::string& path) const;

  const std::string root_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SYSTEM_HOST_ROOT_H_
