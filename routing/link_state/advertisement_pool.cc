#include "routing/link_state/advertisement_pool.h"

#include <utility>

namespace cableway::routing {

std::shared_ptr<const Advertisement> AdvertisementPool::keep(Advertisement advertisement) {
  std::weak_ptr<const Advertisement>& newest = newest_[advertisement.origin];
  std::shared_ptr<const Advertisement> held = newest.lock();
  if (held != nullptr && *held == advertisement) return held;
  auto kept = std::make_shared<const Advertisement>(std::move(advertisement));
  if (held == nullptr || held->version < kept->version) newest = kept;
  return kept;
}

}  // namespace cableway::routing
