// Which of a flow's circuits share its chunks.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_PATH_SHARE_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_PATH_SHARE_H_

#include <cstddef>

#include "core/circuit/path_offer.h"
#include "core/flow/circuit_share.h"

namespace cableway {

// The maximum of circuits in a bundle, including the first. One more may exist while it replaces any of them.
inline constexpr std::size_t kMaxBundle = 4;

// How a circuit on an offered path shares the flow's chunks. `most` limits the kind of sharing.
inline CircuitShare share_on(PathKind kind, bool may_stripe, CircuitShare most) {
  if (!may_stripe) return CircuitShare::kNone;
  const CircuitShare share = kind == PathKind::kAlternate ? CircuitShare::kAlternate : CircuitShare::kBundle;
  return share <= most ? share : CircuitShare::kNone;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_PATH_SHARE_H_
