#include "tools/cableway/named_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/linux/bounded_file.h"

namespace cableway::cli {
namespace {

absl::Status cannot_write(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error == 0 ? EIO : error);
  return absl::FailedPreconditionError(absl::StrCat("file \"", path, "\" cannot be written: ", reason));
}

}  // namespace

absl::StatusOr<std::string> read_named_file(const std::string& path, std::size_t limit) {
  const absl::StatusOr<linux_::UniqueFd> file = linux_::open_file(path);
  if (!file.ok()) return absl::InvalidArgumentError(absl::StrCat("file \"", path, "\" ", file.status().message()));
  absl::StatusOr<std::string> text = linux_::read_at_most(*file, limit);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("file \"", path, "\" ", text.status().message()));
  return text;
}

absl::Status check_writable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  const std::string looked_at = is_there ? path : folder.empty() ? "." : folder.string();
  if (std::error_code ignored; is_there && std::filesystem::is_directory(path, ignored)) {
    return cannot_write(path, EISDIR);
  }
  return ::access(looked_at.c_str(), W_OK) == 0 ? absl::OkStatus() : cannot_write(path, errno);
}

absl::Status write_named_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  return file ? absl::OkStatus() : cannot_write(path, errno);
}

}  // namespace cableway::cli
