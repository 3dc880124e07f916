// A folder in the form of /sys, for one test.
#ifndef CABLEWAY_TESTS_CORE_LINUX_FAKE_SYSFS_H_
#define CABLEWAY_TESTS_CORE_LINUX_FAKE_SYSFS_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cableway::host::test {

// The GID of 10.7.0.1, in the kernel's format.
inline constexpr char kIpv4Gid[] = "0000:0000:0000:0000:0000:ffff:0a07:0001";

class FakeSysfs {
 public:
  FakeSysfs() {
    std::string name = testing::TempDir() + "/fake_sysfs.XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~FakeSysfs() { std::filesystem::remove_all(root_); }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;

  const std::string& root() const { return root_; }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + "/" + path); }
  // Links an interface or RDMA device to its PCI function.
  void link_device(const std::string& of, const std::string& pci_function) const {
    const std::filesystem::path link = root_ + "/" + of + "/device";
    std::filesystem::create_directories(link.parent_path());
    std::filesystem::create_symlink("../../../devices/pci0000:00/" + pci_function, link);
  }
  // What the function at `path`, from devices/, reports of its PCIe link: "32.0 GT/s PCIe" and "4".
  void set_pcie_link(const std::string& path, const std::string& speed, const std::string& width,
                     const std::string& max_width) const {
    write("devices/" + path + "/current_link_speed", speed);
    write("devices/" + path + "/current_link_width", width);
    write("devices/" + path + "/max_link_speed", speed);
    write("devices/" + path + "/max_link_width", max_width);
  }
  // An interface of the device at `path`, from devices/, as the kernel links the two.
  void add_interface(const std::string& name, const std::string& path) const {
    const std::filesystem::path folder = root_ + "/devices/" + path + "/net/" + name;
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink("../../../" + std::filesystem::path(path).filename().string(), folder / "device");
    std::filesystem::create_directories(root_ + "/class/net");
    std::filesystem::create_symlink("../../devices/" + path + "/net/" + name, root_ + "/class/net/" + name);
  }
  // Stands for /dev/infiniband.
  std::string rdma_folder() const { return root_ + "/dev"; }
  // An active RoCE device with one port and no GIDs, usable by processes through the file uverbs-NAME.
  void add_rdma_device(const std::string& name, const std::string& board = "0000:0000:0000:0000") const {
    write("class/infiniband/" + name + "/sys_image_guid", board);
    add_rdma_port(name, 1);
    write("class/infiniband_verbs/uverbs-" + name + "/ibdev", name);
    write("dev/uverbs-" + name, "");
  }
  void add_rdma_port(const std::string& device, int number) const {
    const std::string port = "class/infiniband/" + device + "/ports/" + std::to_string(number);
    write(port + "/state", "4: ACTIVE");
    write(port + "/link_layer", "Ethernet");
  }
  void remove_rdma_device(const std::string& name) const {
    for (const char* const folder : {"class/infiniband/", "class/infiniband_verbs/uverbs-", "dev/uverbs-"}) {
      remove(folder + name);
    }
  }
  // `gid` in the format of kIpv4Gid.
  void add_gid(const std::string& device, int index, const std::string& interface, const std::string& gid,
               const std::string& type = "RoCE v2", int number = 1) const {
    const std::string port = "class/infiniband/" + device + "/ports/" + std::to_string(number);
    const std::string place = std::to_string(index);
    write(port + "/gid_attrs/ndevs/" + place, interface);
    write(port + "/gid_attrs/types/" + place, type);
    write(port + "/gids/" + place, gid);
  }

 private:
  std::string root_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_FAKE_SYSFS_H_
