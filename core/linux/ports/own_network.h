// Detects whether this process is in a network namespace without cables, as in a container with its own network.
//
// A namespace without any hardware has no cables, unless it is the host's own, where plugging in a cable may add an
// interface. Software interfaces, such as those of a lab, are cables if CABLEWAY_PORTS names them; then there are
// ports, and this check is not made.
#ifndef CABLEWAY_CORE_LINUX_PORTS_OWN_NETWORK_H_
#define CABLEWAY_CORE_LINUX_PORTS_OWN_NETWORK_H_

#include <string>
#include <vector>

#include "core/linux/os/sysfs.h"

namespace cableway::host {

struct OwnNetwork {
  std::vector<std::string> interfaces;  // empty: not known
  // At least one of the interfaces is a hardware device. False if sysfs shows another namespace.
  bool sees_hardware = false;
  // Known to be the namespace of the host's first process. Not known in another PID namespace, or without permission
  // to examine that process.
  bool is_hosts = false;
};

// Names of all interfaces in the calling thread's network namespace; empty if the kernel does not list them.
std::vector<std::string> interface_names();

// Reads the network of the calling thread. `proc`: where procfs is mounted.
OwnNetwork read_own_network(const Sysfs& sysfs = Sysfs(), const std::string& proc = "/proc",
                            std::vector<std::string> interfaces = interface_names());

// Why a host without ports has none: "this network namespace has no cables (interfaces: lo, eth0)"; "" if there may
// be cables now or later.
std::string why_no_cables(const OwnNetwork& network);
// The same with the remedy.
std::string no_cables_advised(const OwnNetwork& network);

// Signs of Docker, Podman, Kubernetes, and of container managers that follow systemd's convention.
bool is_in_container();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_OWN_NETWORK_H_
