// When a flow that has several equally good paths moves to another one of them, by what their ports carry.
//
// Flows are spread over equal paths without knowing what each will carry. In a ring of four, half of the opposite pairs
// go the way of flows between neighbours, if all of these go one way round: its cables then carry three times what the
// others do. A flow moves if the other path's busiest port would then carry at most 93 % of what its own path's does.
// Each such move lowers the list of all ports' loads, sorted with the greatest first, so that moves one after the other
// come to an end (D. Monderer, L. Shapley, "Potential games", 1996). So that not all flows that see the same move at
// once, each does so with a probability that is doubled each turn. After a move it rests, longer each time.
//
// One thread.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_PATH_BALANCE_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_PATH_BALANCE_H_

#include <chrono>
#include <cstdint>

#include "core/clock.h"
#include "core/flow/circuit_load.h"

namespace cableway {

class PathBalance {
 public:
  // For so long another path must have been the better one. A move takes until the destination has made the new circuit
  // the primary one (circuit_preference.h), and loads are measured after that.
  static constexpr std::chrono::milliseconds kSteady{1000};
  // Between two decisions of a flow that could gain: it takes that long until others see that one has moved.
  static constexpr std::chrono::milliseconds kTurn{2000};
  // After a move, doubled with each that follows within kForgiven.
  static constexpr std::chrono::seconds kFirstRest{5};
  static constexpr std::chrono::seconds kLongestRest{120};
  static constexpr std::chrono::minutes kForgiven{10};

  // `seed`: any number that other flows do not have.
  explicit PathBalance(std::uint64_t seed) : random_(seed) {}

  // Whether to move now, from a path with the load `present` to one whose busiest port carries `other`. To be called a
  // few times a second, with the least loaded of the other paths.
  bool should_move(const CircuitLoad& present, std::uint64_t other, Instant now);
  // There is no other path.
  void no_other() { better_ = false; }
  // The flow has moved.
  void moved(Instant now);

 private:
  double chance();  // from 0 to 1

  std::uint64_t random_;
  bool better_ = false;  // the other path is, since then
  Instant better_since_;
  double eagerness_ = 1;  // doubled with each turn in which it stays the better one
  Instant next_turn_;
  Duration rest_{kFirstRest};
  bool has_moved_ = false;
  Instant moved_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_PATH_BALANCE_H_
