#include "core/linux/ports/link_loss.h"

namespace cableway::host {

std::string link_loss(const KernelLink& before, const KernelLink* now) {
  if (!before.carrier) return "";
  if (now == nullptr) return "the interface is gone";
  if (!now->up) return "the interface was set down";
  return now->carrier ? "" : "the port has lost its carrier";
}

}  // namespace cableway::host
