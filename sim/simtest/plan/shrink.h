// Reduces a plan that breaks a rule to one with few faults that still breaks it.
//
// Delta debugging: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_

#include <cstddef>
#include <functional>

#include "sim/simtest/plan/fault.h"

namespace cableway::sim {

// A subsequence of `plan` from which no single fault can be left out, unless the limit of `most` calls of `fails` is
// reached first. `fails` returns whether a rule is still broken with these faults alone; it is true for `plan`.
FaultPlan shrink(FaultPlan plan, std::size_t most, const std::function<bool(const FaultPlan&)>& fails);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_SHRINK_H_
