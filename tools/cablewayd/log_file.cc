#include "tools/cablewayd/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

constexpr char kExpected[] = "expected a regular file, or none yet";

std::string named_log(const std::string& path, std::string_view message) {
  return absl::StrCat("log file ", routing::in_quotes(path), " ", std::string(message));
}

absl::Status cannot(const std::string& path, const char* be_done, int error) {
  return absl::FailedPreconditionError(
      named_log(path, absl::StrCat("cannot be ", be_done, ": ", std::generic_category().message(error))));
}

// /dev/null and /dev/full keep nothing, so that nobody's data can be harmed by a log there.
bool keeps_nothing(const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1;
  constexpr unsigned kNull = 3;
  constexpr unsigned kFull = 7;
  if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != kMemoryDevices) return false;
  return minor(status.st_rdev) == kNull || minor(status.st_rdev) == kFull;
}

absl::Status check_status(const struct stat& status, const std::string& path) {
  if (S_ISLNK(status.st_mode)) {
    return absl::InvalidArgumentError(named_log(
        path, absl::StrCat("is a symbolic link, which a log does not follow; ", kExpected,
                           ": set CABLEWAY_LOG_FILE to the file that the link points to, or remove the link")));
  }
  if (keeps_nothing(status)) return absl::OkStatus();
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(named_log(path, absl::StrCat("is not a file; ", kExpected)));
  }
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return absl::OkStatus();
  return absl::FailedPreconditionError(named_log(
      path, absl::StrCat("is owned by user ", status.st_uid, ", who could change the log; expected root or user ",
                         ::geteuid(), ", which this process runs as: chown it")));
}

absl::Status make_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return error ? cannot(path, "opened", error.value()) : absl::OkStatus();
}

}  // namespace

absl::Status check_log_file(const std::string& path) {
  struct stat status {};
  // open() reports whatever else prevents the inspection.
  return ::lstat(path.c_str(), &status) == 0 ? check_status(status, path) : absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<LogFile>> LogFile::open(const std::string& path) {
  if (absl::Status fits = check_log_file(path); !fits.ok()) return fits;
  if (absl::Status made = make_folder(path); !made.ok()) return made;
  // What is opened may no longer be what was checked. Without O_NONBLOCK, opening a pipe would wait for a reader.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  host::UniqueFd file(host::uninterrupted([&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (!file.valid()) return cannot(path, "opened", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return cannot(path, "inspected", errno);
  if (absl::Status fits = check_status(status, path); !fits.ok()) return fits;
  return std::make_shared<LogFile>(path, std::move(file));
}

LogFile::LogFile(std::string path, host::UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

void LogFile::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count =
        host::uninterrupted([&] { return ::write(file_.get(), line.data() + written, line.size() - written); });
    if (count < 0) throw spdlog::spdlog_ex(named_log(path_, "cannot be written"), errno);
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace cableway
