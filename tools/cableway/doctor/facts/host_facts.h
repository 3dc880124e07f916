// Facts about this host that matter to a job and that the node does not report. Read-only.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_HOST_FACTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_HOST_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/linux/rdma/rdma_ports.h"
#include "core/linux/session/session_access.h"
#include "core/ports/port_inventory.h"
#include "core/ports/port_selector.h"
#include "core/settings/settings.h"
#include "tools/cableway/doctor/facts/interface_addresses.h"
#include "tools/cableway/doctor/facts/link_facts.h"
#include "tools/cableway/doctor/facts/nccl_settings.h"

namespace cableway::cli {

// The folders in which the kernel describes the hardware and its network. Tests use their own trees.
struct HardwareFolders {
  std::string sysfs = "/sys";
  std::string proc = "/proc";
  std::string rdma = host::kRdmaDeviceFolder;
};

struct HostFacts {
  std::string plugin;  // absolute path of the NCCL plugin of this installation; empty: it has none
  std::string plugin_sought;
  std::string installation;  // folder with all of this installation, which a container mounts; empty: no plugin
  std::vector<std::string> default_interfaces;  // interfaces of the default routes, the best first
  std::vector<InterfaceAddress> addresses;      // of all interfaces (interface_addresses.h)

  // As a node with the same settings would see them.
  std::vector<PortFacts> ports;
  std::vector<RejectedPort> rejected;
  std::string no_ports;                    // why there are none, else empty
  std::map<std::string, LinkFacts> links;  // of the interfaces with hardware or an RDMA device, by name
  std::map<std::string, int> arp_ignore;   // as it applies to each interface (doctor_arp.h)

  std::optional<std::uint64_t> memlock_bytes;  // a process's limit of locked memory; not set: unlimited
  bool has_rdma_devices = false;
  bool has_verbs_files = false;                // /dev/infiniband
  std::vector<std::string> rdma_device_rules;  // device_rules.h; not read without /dev/infiniband
  std::string no_verbs_library;                // why libibverbs cannot be used; not checked without an RDMA device
  bool in_container = false;
  std::string no_cables;  // why this network namespace can have none (core/linux/ports/own_network.h), else empty

  NcclSettings nccl;
  host::SessionAccess sessions;  // with a system node of the settings in force; filled in by read_session_facts()
};

// Reads HostFacts::sessions.
host::SessionAccess read_session_facts(const Settings& settings);

HostFacts read_host_facts(const std::vector<PortSelector>& selectors, const std::string& program_folder,
                          const HardwareFolders& folders = {},
                          const NcclPlaces& nccl_places = NcclPlaces::of_this_process());

// The folder of the running program, with links resolved; empty if the kernel does not report it.
std::string program_folder();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_HOST_FACTS_H_
