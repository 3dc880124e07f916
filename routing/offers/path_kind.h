// How a path that is offered to a flow relates to the flow's first path.
#ifndef CABLEWAY_ROUTING_OFFERS_PATH_KIND_H_
#define CABLEWAY_ROUTING_OFFERS_PATH_KIND_H_

#include <cstdint>

namespace cableway::routing {

enum class PathKind : std::uint8_t {
  kFirst = 0,      // the path of a flow that uses only one
  kBundle = 1,     // parallel to the first: the same nodes, other end ports
  kAlternate = 2,  // any other path
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_PATH_KIND_H_
