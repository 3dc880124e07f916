// Decides when a flow with several equally good paths moves to another one of them, based on the loads of their
// ports.
//
// Flows are spread over equal paths before their loads are known. In a ring of four, for example, half of the flows
// between opposite nodes may go the same way round as all flows between neighbours; the cables in that direction then
// carry three times the load of the others. A flow moves if the other path's busiest port would then carry at
// most 93 % of what its own path's busiest port carries.
// Each such move lowers the list of all ports' loads, sorted in descending order, so a sequence of moves ends (D.
// Monderer, L. Shapley, "Potential games", 1996). To keep all flows that see the same opportunity from moving at
// once, each moves with a probability that doubles each turn. After a move a flow rests, longer each time.
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
  // The time for which another path must have been the better one. A move takes until the destination has made the
  // new circuit the primary (circuit_preference.h), and loads are measured after that.
  static constexpr std::chrono::milliseconds kSteady{1000};
  // The time between two decisions of a flow that could gain: other flows see a move only after that time.
  static constexpr std::chrono::milliseconds kTurn{2000};
  // The rest after a move, doubled with each move that follows within kForgiven.
  static constexpr std::chrono::seconds kFirstRest{5};
  static constexpr std::chrono::seconds kLongestRest{120};
  static constexpr std::chrono::minutes kForgiven{10};

  // `seed`: a number that differs between flows.
  explicit PathBalance(std::uint64_t seed) : random_(seed) {}

  // Whether the flow gains enough by a move from a path with the load `present` to one whose busiest port carries
  // `other`.
  static bool gains(const CircuitLoad& present, std::uint64_t other);
  // Whether to move now from a path with the load `present` to a path whose busiest port carries `other`. To be
  // called a few times a second, with the least loaded of the other paths.
  bool should_move(const CircuitLoad& present, std::uint64_t other, Instant now);
  // No other path exists.
  void no_other() { better_ = false; }
  // The flow has moved.
  void moved(Instant now);

 private:
  double chance();  // from 0 to 1

  std::uint64_t random_;
  bool better_ = false;  // the other path is the better one since better_since_
  Instant better_since_;
  double eagerness_ = 1;  // doubled with each turn in which the other path stays the better one
  Instant next_turn_;
  Duration rest_{kFirstRest};
  bool has_moved_ = false;
  Instant moved_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_PATH_BALANCE_H_
