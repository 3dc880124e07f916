// Detects that a link no longer carries data, by comparing what the kernel reported of it before and reports now.
#ifndef CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_
#define CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_

#include <string>

#include "core/linux/ports/kernel_network.h"

namespace cableway::host {

struct LinkLoss {
  PortId link = 0;
  std::string reason;
};

// Why a link that had its carrier has none now; "" if it still has its carrier, or had none before. Null: the link is
// gone. Other changes, for instance of its name or MTU, are not a loss.
std::string link_loss(const KernelLink& before, const KernelLink* now);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_
