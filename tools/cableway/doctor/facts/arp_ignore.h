// Whether this host's interfaces answer ARP for each other's addresses.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_ARP_IGNORE_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_ARP_IGNORE_H_

#include <map>
#include <string>

#include "core/linux/os/sysfs.h"

namespace cableway::cli {

// net.ipv4.conf.*.arp_ignore as it applies to each interface: the higher of its own and that of "all". `proc`: where
// procfs is mounted.
std::map<std::string, int> read_arp_ignore(const host::Sysfs& proc);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_ARP_IGNORE_H_
