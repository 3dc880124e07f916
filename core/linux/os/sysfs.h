// Reads small files of sysfs. Unreadable files read as empty: a device may be removed between two reads.
#ifndef CABLEWAY_CORE_LINUX_OS_SYSFS_H_
#define CABLEWAY_CORE_LINUX_OS_SYSFS_H_

#include <string>
#include <utility>
#include <vector>

namespace cableway::host {

class Sysfs {
 public:
  // Tests use their own trees.
  explicit Sysfs(std::string root = "/sys") : root_(std::move(root)) {}

  // The first line, at most 4,096 bytes.
  std::string line(const std::string& path) const;
  // The last component of a link's target: "0000:01:00.0" for "class/net/eth1/device".
  std::string link_name(const std::string& path) const;
  // The path with all links resolved, from the tree's root: "devices/pci0000:00/0000:00:00.0/0000:01:00.0" for
  // "class/net/eth1/device". Empty if it does not exist or leads out of the tree.
  std::string real_path(const std::string& path) const;
  // The names in a folder, sorted, at most `most` of them.
  std::vector<std::string> names(const std::string& folder, std::size_t most) const;

 private:
  std::string root_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_SYSFS_H_
