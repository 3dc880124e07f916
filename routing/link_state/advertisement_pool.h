// Shares one copy of each advertisement between the databases of one process, such as the simulator's many nodes.
// Not thread-safe.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_
#define CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_

#include <map>
#include <memory>

#include "routing/link_state/advertisement.h"

namespace cableway::routing {

class AdvertisementPool {
 public:
  // Returns the shared copy if `advertisement` equals the newest one kept of its origin, else keeps `advertisement`.
  std::shared_ptr<const Advertisement> keep(Advertisement advertisement);

 private:
  std::map<NodeId, std::weak_ptr<const Advertisement>> newest_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_
