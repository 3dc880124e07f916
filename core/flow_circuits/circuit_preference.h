// Which of a flow's circuits the destination makes the primary: among those that have lived for kProven, the one on
// the path that the source prefers.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_CIRCUIT_PREFERENCE_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_CIRCUIT_PREFERENCE_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "core/circuit/circuit_setup.h"

namespace cableway {

// A circuit that has just joined may end at once.
inline constexpr std::chrono::seconds kProven{1};
// Within this time after a better circuit has joined, the destination has made it the primary.
inline constexpr std::chrono::seconds kKeepWorse{3};

// The least preference is the best: the latest offer first, then the lowest rank, then the fewest hops.
struct CircuitPreference {
  std::uint32_t offer = 0;  // as in its set-up
  std::uint8_t rank = 0;
  std::size_t hops = 0;

  static CircuitPreference of(const CircuitSetup& setup) { return {setup.offer, setup.rank, setup.hops.size()}; }
  friend bool operator==(const CircuitPreference&, const CircuitPreference&) = default;
  friend std::strong_ordering operator<=>(const CircuitPreference& left, const CircuitPreference& right) {
    return std::tie(right.offer, left.rank, left.hops) <=> std::tie(left.offer, right.rank, right.hops);
  }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_CIRCUIT_PREFERENCE_H_
