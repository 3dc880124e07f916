// A world for a soak: busy hosts that send pulses, every port loaded all the time, and no fault. Any verdict is a false
// one.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_SOAK_PLAN_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_SOAK_PLAN_H_

#include <cstdint>

#include "core/clock.h"
#include "sim/simtest/plan/simtest_plan.h"

namespace cableway::sim {

inline constexpr std::chrono::hours kMostSoak{1000};

// A ring of four with a chord. Cables are slow, so that a day can be computed. For pulses, the load, the wait at ports
// and the stalls of hosts are those of fast cables.
SimtestPlan make_soak_plan(std::uint64_t seed, Duration lasts);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_SOAK_PLAN_H_
