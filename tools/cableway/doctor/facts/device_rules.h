// What a container needs to use the RDMA devices that this host has now and those that appear later: the folder of
// their files, and device-cgroup rules, which name the kernel's numbers of all such files. Options that name files give
// a container only the devices at its start, and an RDMA device that is removed can return with another name or number.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_DEVICE_RULES_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_DEVICE_RULES_H_

#include <string>
#include <vector>

#include "core/linux/os/sysfs.h"

namespace cableway::cli {

// Rules in Docker's form, "c 231:* rwm": every major number of the verbs files in PROC/devices, or 231, which the
// kernel reserves for them; and rdma_cm's file where the kernel has it.
std::vector<std::string> read_rdma_device_rules(const host::Sysfs& sysfs, const std::string& proc);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_DEVICE_RULES_H_
