// Whether a link still carries what was sent over it, from what the kernel reports of it before and now.
#ifndef CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_
#define CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_

#include <string>

#include "core/linux/ports/kernel_network.h"

namespace cableway::host {

struct LinkLoss {
  PortId link = 0;
  std::string reason;
};

// Why a link that had its carrier has none now; "" if it has, or had none before. Null: it is gone. Any other change,
// as of its name or MTU, is no loss.
std::string link_loss(const KernelLink& before, const KernelLink* now);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_LINK_LOSS_H_
