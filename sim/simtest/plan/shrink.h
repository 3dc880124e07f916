// From a plan that breaks a rule to one with few faults that still does.
//
// Delta debugging: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_

#include <cstddef>
#include <functional>

#include "sim/simtest/plan/fault.h"

namespace cableway::sim {

// A part of `plan`, in its order, of which no single fault can be left out; unless `fails` has been asked `most` times
// before. `fails` says whether a rule is still broken with these faults alone; it is of `plan` itself.
FaultPlan shrink(FaultPlan plan, std::size_t most, const std::function<bool(const FaultPlan&)>& fails);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_
