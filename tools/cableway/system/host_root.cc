#include "tools/cableway/system/host_root.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/linux/os/bounded_file.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

namespace fs = std::filesystem;
using host::UniqueFd;

constexpr char kTooLarge[] = "has more than 64 MiB";
constexpr mode_t kPermissions = 07777;
constexpr mode_t kFolderMode = 0755;

absl::Status path_fault(const std::string& path, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(routing::in_quotes(path, path.size()), " ", what));
}

absl::Status system_fault(const std::string& path, absl::string_view what, int error) {
  return path_fault(path, absl::StrCat(what, ": ", std::generic_category().message(error)));
}

bool is_own(uid_t user) {
  return user == 0 || user == ::geteuid();
}

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

// Who may write to the folder may replace the file, or put a link in its place.
absl::Status check_folder(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return system_fault(folder, "cannot be inspected", errno);
  if (!S_ISDIR(status.st_mode)) return path_fault(folder, "is no folder");
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (is_own(status.st_uid) && !others_write) return absl::OkStatus();
  return path_fault(folder, absl::StrCat("can be written by other users than root and user ", ::geteuid(),
                                         ": chown it, and chmod go-w"));
}

// Of the path's own entry; nullopt: there is none.
absl::StatusOr<std::optional<struct stat>> entry_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) return std::optional(status);
    return path_fault(path, S_ISLNK(status.st_mode) ? "is a link; expected a regular file" : "is no regular file");
  }
  if (errno == ENOENT) return std::optional<struct stat>();
  return system_fault(path, "cannot be inspected", errno);
}

absl::Status create_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), kFolderMode) != 0) return system_fault(folder, "cannot be created", errno);
  ::chmod(folder.c_str(), kFolderMode);  // whatever the umask
  return absl::OkStatus();
}

absl::Status write_all(const UniqueFd& file, const std::string& path, std::string_view left) {
  while (!left.empty()) {
    const ssize_t written = host::uninterrupted([&] { return ::write(file.get(), left.data(), left.size()); });
    if (written < 0) return system_fault(path, "cannot be written", errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

void sync_folder(const std::string& folder) {
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid()) ::fsync(opened.get());
}

// Writes a file beside `path` and moves it there.
absl::Status replace_file(const std::string& path, const HostFile& wanted, const std::optional<struct stat>& before) {
  std::string beside = path + ".XXXXXX";
  const UniqueFd file(::mkostemp(beside.data(), O_CLOEXEC));  // mode 600
  if (!file.valid()) return system_fault(path, "cannot be written", errno);
  absl::Status status = write_all(file, path, wanted.text);
  // The owner first: a change of it takes bits of the mode.
  if (status.ok() && before && ::fchown(file.get(), before->st_uid, before->st_gid) != 0) {
    status = system_fault(path, "cannot keep its owner", errno);
  }
  if (status.ok() && (::fchmod(file.get(), wanted.mode) != 0 || ::fsync(file.get()) != 0)) {
    status = system_fault(path, "cannot be written", errno);
  }
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0)
    status = system_fault(path, "cannot be replaced", errno);
  if (!status.ok()) ::unlink(beside.c_str());
  if (status.ok()) sync_folder(folder_of(path));
  return status;
}

}  // namespace

absl::StatusOr<std::optional<HostFile>> HostRoot::read(const std::string& path) const {
  const UniqueFd file(::open(at(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<HostFile>();
    if (errno == EACCES) return absl::PermissionDeniedError(absl::StrCat(at(path), " may be read by root only"));
    return errno == ELOOP ? path_fault(at(path), "is a link; expected a regular file")
                          : system_fault(at(path), "cannot be opened", errno);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_fault(at(path), "cannot be inspected", errno);
  if (!S_ISREG(status.st_mode)) return path_fault(at(path), "is no regular file");
  absl::StatusOr<std::string> text = host::read_in_pieces(file, kMostHostFileBytes + 1);
  if (!text.ok()) return path_fault(at(path), text.status().message());
  if (text->size() > kMostHostFileBytes) return path_fault(at(path), kTooLarge);
  return HostFile{.text = *std::move(text), .mode = status.st_mode & kPermissions};
}

absl::StatusOr<std::optional<HostFile>> HostRoot::read_own(const std::string& path) const {
  const absl::StatusOr<std::optional<struct stat>> entry = entry_at(at(path));
  if (!entry.ok()) return entry.status();
  if (!*entry) return std::optional<HostFile>();
  if (absl::Status status = check_folder(folder_of(at(path))); !status.ok()) return status;
  if (!is_own((*entry)->st_uid) || ((*entry)->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return path_fault(at(path), "can be written by other users than root");
  }
  return read(path);
}

absl::Status HostRoot::write(const std::string& path, const HostFile& file) const {
  if (file.text.size() > kMostHostFileBytes) return path_fault(at(path), kTooLarge);
  if (absl::Status status = make_folders(path); !status.ok()) return status;
  const absl::StatusOr<std::optional<struct stat>> before = entry_at(at(path));
  if (!before.ok()) return before.status();
  if (*before && !is_own((*before)->st_uid)) {
    return path_fault(at(path), absl::StrCat("belongs to user ", (*before)->st_uid, "; expected root"));
  }
  return replace_file(at(path), file, *before);
}

absl::Status HostRoot::make_folders(const std::string& path) const {
  const std::vector<std::string> missing = missing_folders(path);
  const std::string present = folder_of(missing.empty() ? path : missing.front());
  if (absl::Status status = check_folder(at(present)); !status.ok()) return status;
  for (const std::string& folder : missing) {
    if (absl::Status status = create_folder(at(folder)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> HostRoot::lock(const std::string& path) const {
  if (absl::Status status = make_folders(path); !status.ok()) return status;
  constexpr mode_t kForRoot = 0600;
  UniqueFd file(::open(at(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, kForRoot));
  if (!file.valid()) return system_fault(at(path), "cannot be opened", errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return system_fault(at(path), "cannot be locked", errno);
  return path_fault(at(path), "is locked by another process, which does the same now: try again when it has ended");
}

absl::Status HostRoot::remove(const std::string& path) const {
  const absl::StatusOr<std::optional<struct stat>> before = entry_at(at(path));
  if (!before.ok()) return before.status();
  if (*before && ::unlink(at(path).c_str()) != 0) return system_fault(at(path), "cannot be removed", errno);
  sync_folder(folder_of(at(path)));
  return absl::OkStatus();
}

std::vector<std::string> HostRoot::missing_folders(const std::string& path) const {
  std::vector<std::string> missing;
  for (std::string each = folder_of(path); each.size() > 1 && !exists(each); each = folder_of(each)) {
    missing.push_back(each);
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

void HostRoot::remove_empty_folder(const std::string& path) const {
  ::rmdir(at(path).c_str());
}

std::optional<std::string> HostRoot::read_value(const std::string& path) const {
  constexpr std::size_t kMostValue = 4096;
  const absl::StatusOr<UniqueFd> file = host::open_file(at(path));
  if (!file.ok()) return std::nullopt;
  const absl::StatusOr<std::string> text = host::read_at_most(*file, kMostValue);
  if (!text.ok()) return std::nullopt;
  return std::string(absl::StripSuffix(*text, "\n"));
}

absl::Status HostRoot::write_value(const std::string& path, const std::string& value) const {
  const UniqueFd file(::open(at(path).c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  if (!file.valid()) return system_fault(at(path), "cannot be opened", errno);
  return write_all(file, at(path), value + "\n");
}

bool HostRoot::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

bool HostRoot::has_folder(const std::string& path) const {
  std::error_code error;
  return fs::is_directory(at(path), error);
}

std::vector<std::string> HostRoot::names_in(const std::string& path) const {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(at(path), error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cableway::cli
