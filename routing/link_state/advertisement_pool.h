// Keeps one copy of what many databases hold: nodes of one process, such as the simulator's, all keep the
// advertisements of all. One thread.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_
#define CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_

#include <map>
#include <memory>

#include "routing/link_state/advertisement.h"

namespace cableway::routing {

class AdvertisementPool {
 public:
  // The copy that others hold if it is equal, to the last bit, to the newest one of its origin that came here.
  std::shared_ptr<const Advertisement> keep(Advertisement advertisement);

 private:
  std::map<NodeId, std::weak_ptr<const Advertisement>> newest_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_POOL_H_
