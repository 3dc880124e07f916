// The cables that are gone, as the view `gone` of a node.
#ifndef CABLEWAY_CORE_LIVE_GONE_JSON_H_
#define CABLEWAY_CORE_LIVE_GONE_JSON_H_

#include <span>
#include <string>

#include "core/live/gone_cables.h"

namespace cableway {

//   gone  {name, ends (two of node, interface, address, plug), rate_mbps, since (RFC 3339)}, in the order of `gone`
std::string gone_json(std::span<const GoneCable> gone);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_GONE_JSON_H_
