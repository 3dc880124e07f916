#include "routing/layout/usable_cables.h"

namespace cableway::routing {

std::vector<Cable> as_usable(std::span<const Cable> plugged) {
  std::vector<Cable> cables(plugged.begin(), plugged.end());
  for (Cable& cable : cables) {
    cable.draining = false;
    cable.loss_percent = 0;
  }
  return cables;
}

}  // namespace cableway::routing
