// Decides when the threads of a busy host run: the host stalls now and then, mostly briefly, and what was to run
// meanwhile runs afterwards.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_HOST_STALLS_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_HOST_STALLS_H_

#include <algorithm>
#include <cstdint>

#include "core/clock.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {

class HostStalls {
 public:
  explicit HostStalls(std::uint64_t seed) : random_(seed) {}

  // The time at which a thread runs that was to run at `wanted`; successive times decrease at most by the length of the
  // stalls. `longest`: the host's longest stall; 0: it is idle.
  Instant after(Instant wanted, Duration longest) {
    if (longest <= Duration{0}) return wanted;
    if (wanted - end_ > std::chrono::seconds(1)) end_ = wanted;
    while (end_ <= wanted) {
      begin_ = end_ + random_.between(Duration{0}, kApart * longest);
      end_ = begin_ + length(longest);
    }
    return begin_ <= wanted ? end_ : wanted;
  }

 private:
  static constexpr int kApart = 4;  // the longest time between stalls, in longest stalls

  // Half of the stalls are shorter than an eighth of the longest.
  Duration length(Duration longest) {
    const double part = static_cast<double>(random_.below(kSteps) + 1) / kSteps;
    return Duration(static_cast<Duration::rep>(static_cast<double>(longest.count()) * part * part * part));
  }

  static constexpr std::uint64_t kSteps = 1U << 20;

  SimtestRandom random_;
  Instant begin_;
  Instant end_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_HOST_STALLS_H_
