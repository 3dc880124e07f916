// The steps of `cableway up` for addresses, MTU and the kernel's parameters.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_CHANGES_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_CHANGES_H_

#include <string>
#include <vector>

#include "tools/cableway/up/change.h"
#include "tools/cableway/up/network_files.h"
#include "tools/cableway/up/up_changes.h"
#include "tools/cableway/up/up_facts.h"

namespace cableway::cli {

// Adds the step that writes the file, unless it is there with this text and these permissions. Returns whether it did.
bool add_file(const UpFacts& facts, const WantedFile& wanted, std::vector<Change>& changes);

// Pure, also below.
void add_sysctl(const HostPlan& plan, const UpFacts& facts, UpChanges& all);
void add_network(const HostPlan& plan, const UpFacts& facts, UpChanges& all);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_NETWORK_CHANGES_H_
