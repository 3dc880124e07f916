#include "core/flow_circuits/path_balance.h"

#include <algorithm>
#include <utility>

namespace cableway {
namespace {

// A flow with less than this fraction of its port's load does not cause the load.
constexpr std::uint64_t kLeastPart = 16;
constexpr std::uint64_t kLeastPerSecond = 1U << 20;
// The other path's busiest port would carry at most this percentage of the load of the present path's busiest port.
// The last of 16 equal flows gains a ninth, so it moves even if loads are measured 4 % too high or too low.
constexpr std::uint64_t kMostPercent = 93;
constexpr double kLeastProbability = 0.15;
constexpr double kMostProbability = 0.75;
constexpr double kMostEager = 16;

}  // namespace

bool PathBalance::gains(const CircuitLoad& present, std::uint64_t other) {
  if (present.own < kLeastPerSecond || present.own < present.busiest / kLeastPart) return false;
  return (other + present.own) * 100 <= present.busiest * kMostPercent;
}

bool PathBalance::should_move(const CircuitLoad& present, std::uint64_t other, Instant now) {
  if (!gains(present, other)) {
    better_ = false;
    return false;
  }
  if (!std::exchange(better_, true)) {
    better_since_ = now;
    eagerness_ = 1;
  }
  if (now - better_since_ < kSteady || now < next_turn_) return false;
  next_turn_ = now + kTurn;
  // If all of the load can move, moving half of the difference makes both paths equal, so each flow moves with that
  // probability. If the other path is still better one turn later, not all of the load can move, so the probability
  // is doubled.
  const double part = static_cast<double>(present.busiest - other) / static_cast<double>(2 * present.busiest);
  const double probability = std::clamp(part * eagerness_, kLeastProbability, kMostProbability);
  eagerness_ = std::min(2 * eagerness_, kMostEager);
  return chance() < probability;
}

// A linear congruential generator (D. Knuth, MMIX). Its high bits are random enough to keep flows from moving in
// lockstep.
double PathBalance::chance() {
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(random_ >> 32U) / static_cast<double>(std::uint64_t{1} << 32U);
}

void PathBalance::moved(Instant now) {
  const bool again = std::exchange(has_moved_, true) && now - moved_at_ < kForgiven;
  rest_ = again ? std::min<Duration>(2 * rest_, kLongestRest) : Duration(kFirstRest);
  moved_at_ = now;
  next_turn_ = now + rest_;
  better_ = false;
}

}  // namespace cableway
