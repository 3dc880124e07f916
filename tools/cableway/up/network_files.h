// The files that keep a host's planned addresses, in the form that the host's own network configuration reads.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_FILES_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_FILES_H_

#include <string>
#include <vector>

#include "tools/cableway/system/host_root.h"
#include "tools/cableway/up/change.h"
#include "tools/cableway/up/up_facts.h"

namespace cableway::cli {

inline constexpr char kNetplanPath[] = "/etc/netplan/90-cableway.yaml";

struct WantedFile {
  std::string path;
  HostFile file;
  PlanPart part = {};
};

// Pure. Without systemd, NetworkKind::kIp has none: then addresses last until the next start.
std::vector<WantedFile> network_files(const HostPlan& plan, NetworkKind network, bool systemd_runs);

// Of parameters of twin interfaces; precondition: there are some.
WantedFile sysctl_file(const HostPlan& plan);

// After files of this form have changed.
std::vector<std::string> reload_words(NetworkKind kind);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_FILES_H_
