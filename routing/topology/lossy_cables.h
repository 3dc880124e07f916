// Cables that lose packets are used last: only where nodes could not reach each other by better ones.
//
//       n0 -c0- n1       c0 loses 5 %: paths between n0 and n1 lead through n2.
//         \    /         If c1 loses 4 %, too, all three are used: the way through n2 is no better than c0.
//       c1 \  / c2       If c1 loses 2 %, c0 is not used.
//           n2
//
// Bundles and alternates do not use a lossy cable either: each lost packet holds up the messages that
// are striped over it.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_LOSSY_CABLES_H_
#define CABLEWAY_ROUTING_TOPOLOGY_LOSSY_CABLES_H_

#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// For each cable, whether paths may lead over it. Cables that drain are never in use. A cable that loses packets
// (loss_percent) is in use unless its two nodes reach each other, through nodes that do not drain, over cables that all
// lose less than half as much. So nodes that reach each other over all cables do so over those in use. O(cables log
// cables); a cable at a draining node takes O(that node's cables) more. Precondition: the nodes and cables of a valid
// topology.
std::vector<bool> cables_in_use(std::span<const Node> nodes, std::span<const Cable> cables);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_LOSSY_CABLES_H_
