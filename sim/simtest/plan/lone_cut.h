// Worlds whose only faults are cables that lose their carrier while flows with another circuit carry data, so that any
// stall has no other cause (rule 10).
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_LONE_CUT_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_LONE_CUT_H_

#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {

// Gives the plan a ring, flows over it that last for more than a second, and one or two cuts as its only faults.
void make_lone_cut(SimtestRandom& random, SimtestPlan& plan);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_LONE_CUT_H_
