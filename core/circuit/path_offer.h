// A path that a node offers to a flow.
#ifndef CABLEWAY_CORE_CIRCUIT_PATH_OFFER_H_
#define CABLEWAY_CORE_CIRCUIT_PATH_OFFER_H_

#include <vector>

#include "core/circuit/hop.h"
#include "routing/offers/path_kind.h"

namespace cableway {

using routing::PathKind;

struct PathOffer {
  PathKind kind = PathKind::kFirst;
  bool may_stripe = true;     // it adds throughput to the preceding offers that may stripe
  std::vector<Hop> hops;      // the last hop's to_port is 0: the listen handle has it
  bool equals_first = false;  // as in OfferedPath
  bool last_resort = false;   // over a cable that is otherwise avoided because it loses packets
  friend bool operator==(const PathOffer&, const PathOffer&) = default;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_PATH_OFFER_H_
