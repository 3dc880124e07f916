#include "core/linux/os/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

std::string Sysfs::line(const std::string& path) const {
  const UniqueFd file(::open(absl::StrCat(root_, "/", path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 4096> bytes{};
  const ssize_t got =
      file.valid() ? uninterrupted([&] { return ::read(file.get(), bytes.data(), bytes.size()); }) : ssize_t{0};
  if (got <= 0) return "";
  const auto end = std::find(bytes.begin(), bytes.begin() + got, '\n');
  return std::string(bytes.begin(), end);
}

std::string Sysfs::link_name(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(absl::StrCat(root_, "/", path), error);
  return error ? "" : target.filename().string();
}

std::string Sysfs::real_path(const std::string& path) const {
  std::error_code error;
  const std::string root = absl::StrCat(std::filesystem::canonical(root_, error).string(), "/");
  if (error) return "";
  const std::string target = std::filesystem::canonical(absl::StrCat(root_, "/", path), error).string();
  return error || !target.starts_with(root) ? "" : target.substr(root.size());
}

std::vector<std::string> Sysfs::names(const std::string& folder, std::size_t most) const {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(absl::StrCat(root_, "/", folder), error);
  while (!error && entry != std::filesystem::directory_iterator() && names.size() < most) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cableway::host
