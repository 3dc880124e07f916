#include "tools/cableway/doctor/facts/host_facts.h"

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/linux/os/sysfs.h"
#include "core/linux/ports/default_route.h"
#include "core/linux/ports/netlink_inventory.h"
#include "core/linux/ports/own_network.h"
#include "core/linux/rdma/verbs_library.h"
#include "core/linux/session/session_names.h"
#include "tools/cableway/doctor/facts/arp_ignore.h"
#include "tools/cableway/doctor/facts/device_rules.h"

namespace cableway::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPlugin[] = "libnccl-net-cableway.so";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// In this program's folder, as where it is installed, or in lib/ beside that, as where it was built.
void find_plugin(const fs::path& folder, HostFacts& facts) {
  const fs::path here = folder / kPlugin;
  const fs::path above = folder.parent_path();
  const fs::path beside = above / "lib" / kPlugin;
  facts.plugin_sought = here;
  if (folder.empty()) return;
  if (is_there(here)) {
    facts.plugin = here;
    facts.installation = folder;
  } else if (is_there(beside)) {
    facts.plugin = beside;
    facts.installation = above;
  }
}

void find_ports(const std::vector<PortSelector>& selectors, const HardwareFolders& folders, HostFacts& facts) {
  boost::asio::io_context io;
  const auto inventory = host::NetlinkInventory::open(io, selectors, folders.sysfs, folders.rdma);
  if (!inventory.ok()) {
    facts.no_ports = std::string(inventory.status().message());
    return;
  }
  facts.ports = (*inventory)->ports();
  facts.rejected = (*inventory)->rejected();
  facts.no_ports = (*inventory)->status();
}

}  // namespace

HostFacts read_host_facts(const std::vector<PortSelector>& selectors, const std::string& program_folder,
                          const HardwareFolders& folders, const NcclPlaces& nccl_places) {
  HostFacts facts;
  find_plugin(program_folder, facts);
  find_ports(selectors, folders, facts);
  facts.default_interfaces = host::default_route_interfaces();
  facts.addresses = read_interface_addresses();
  rlimit memlock{};
  if (::getrlimit(RLIMIT_MEMLOCK, &memlock) == 0 && memlock.rlim_cur != RLIM_INFINITY) {
    facts.memlock_bytes = memlock.rlim_cur;
  }
  const host::Sysfs sysfs(folders.sysfs);
  facts.no_cables = host::why_no_cables(host::read_own_network(sysfs, folders.proc));
  facts.has_rdma_devices = !sysfs.names("class/infiniband", 1).empty();
  facts.has_verbs_files = is_there(folders.rdma);
  if (facts.has_verbs_files) facts.rdma_device_rules = read_rdma_device_rules(sysfs, folders.proc);
  if (facts.has_rdma_devices) {
    facts.no_verbs_library = std::string(host::VerbsLibrary::of_this_process().status().message());
  }
  facts.links = read_links(sysfs);
  facts.arp_ignore = read_arp_ignore(host::Sysfs(folders.proc));
  facts.in_container = host::is_in_container();
  facts.nccl = read_nccl_settings(nccl_places);
  return facts;
}

host::SessionAccess read_session_facts(const Settings& settings) {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings);
  return host::read_session_access(names.ok() ? names->shared : "");
}

std::string program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "" : program.parent_path().string();
}

}  // namespace cableway::cli
