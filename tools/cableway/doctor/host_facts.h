// What of this host matters to a job and is not the node's to know. Read-only.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_HOST_FACTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_HOST_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/port_inventory.h"
#include "core/discovery/port_selector.h"
#include "core/linux/rdma/rdma_ports.h"
#include "tools/cableway/doctor/link_facts.h"

namespace cableway::cli {

// Where a host shows its hardware. Tests have trees of their own.
struct HardwareFolders {
  std::string sysfs = "/sys";
  std::string rdma = host::kRdmaDeviceFolder;
};

struct HostFacts {
  std::string plugin;  // absolute path of the NCCL plugin of this installation; empty: it has none
  std::string plugin_sought;
  std::vector<std::string> default_interfaces;  // that default routes go through, the best first

  // As a node with the same settings would see them now.
  std::vector<PortFacts> ports;
  std::vector<RejectedPort> rejected;
  std::string no_ports;                    // why there is none, else empty
  std::map<std::string, LinkFacts> links;  // of the interfaces with hardware or an RDMA device, by name

  std::optional<std::uint64_t> memlock_bytes;  // a process's limit of locked memory; nothing: it has none
  bool has_rdma_devices = false;
  bool has_verbs_files = false;  // /dev/infiniband
  std::string no_verbs_library;  // why libibverbs cannot be used; not looked for where there is no RDMA device
  bool in_container = false;
  bool sees_hardware = false;  // some interface is a device and not made by software
};

HostFacts look_at_host(const std::vector<PortSelector>& selectors, const std::string& program_folder,
                       const HardwareFolders& folders = {});

// Of the program that runs, without links; empty where the kernel does not say.
std::string program_folder();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_HOST_FACTS_H_
