// The paths that a flow may use, ranked: its first path, and others for more throughput and against failures.
#ifndef CABLEWAY_ROUTING_OFFERS_PATH_OFFERS_H_
#define CABLEWAY_ROUTING_OFFERS_PATH_OFFERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/offers/path_kind.h"
#include "routing/paths/path.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct OfferedPath {
  Path path;
  PathKind kind = PathKind::kFirst;
  // Whether it adds throughput beside the offers before it that may do so.
  bool may_stripe = true;
  // An alternate of the first path's cost, all of whose cables have one rate, as those of the first path do: what their
  // ports carry can be compared in bytes.
  bool equals_first = false;
  friend bool operator==(const OfferedPath&, const OfferedPath&) = default;
};

// At most `most` different paths from routes.self() to `destination` for the `ordinal`-th flow; empty if there is none.
// To itself: one path of no cables. No path crosses a draining node. The same arguments give the same offers.
//
//            c0
//       n0 ====== n1      Offers to flow 0 from n0 to n1:
//        |   c1   |         first      n0 -c0- n1
//     c4 |        | c2      bundle     n0 -c1- n1
//        |        |         alternate  n0 -c4- n3 -c3- n2 -c2- n1
//       n3 ------ n2      Of two, the second is the bundle; or the alternate, if c0 and c1 are functions of one wire
//            c3
//
// The full list, of which `most` are offered:
//   1. The first path: routes.path_for_flow(destination, ordinal).
//   2. Its bundle (bundle_paths.h), at most kMaxPathsPerRoute paths.
//   3. Alternates. Next is always the one that, in this order,
//      - has no avoidable point of failure (points_of_failure.h) in common with the first path,
//      - has none in common with any path before it,
//      - has the least PathCost,
//      - shares the fewest points with the paths before it, summed up,
//      - comes first for this flow (RouteTable::in_order_of_flows()) among those of this cost, so that flows spread.
//      Those considered are the other shortest paths of the route; the cheapest path that avoids as much of the first
//      one as possible; surviving_paths(), if something of the first one cannot be avoided at once; disjoint_paths(),
//      at most 8 or `most`; and, if all these are fewer than `most`, 2 * `most` of loop_free_paths().
//
// A point of failure is avoidable if some path does without it. If the list is longer than `most`, its first `most`
// paths are offered, provided that no avoidable point is on all of them. Otherwise the last place goes to the first
// later path with which no such point is left. If there is no such path, the last two places go to surviving_paths()
// or, if `most` is 2, the last place to the path with which the fewest are left. Kinds stay in order. So no avoidable
// point is on all of three or more offers, nor on both of two if one path avoids all avoidable points of the first path
// at once.
//
// may_stripe is true for the first path. For any other one, each part of its way (striping_room.h) must have room
// beside the offers before it that may stripe. An alternate, which may only use what is idle, furthermore crosses no
// wire, connector or PCIe root that its ports can overfill, nor any part that the first path, or one of its bundle that
// may stripe, uses in the same direction.
//
// Pure. Precondition: `routes` is compute_routes() of `topology`.
std::vector<OfferedPath> offered_paths(const Topology& topology, const RouteTable& routes, NodeIndex destination,
                                       std::uint64_t ordinal, std::size_t most);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_PATH_OFFERS_H_
