// Determines which cables and nodes a fault touches, and when: rules use it to explain what they observe.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_FAULT_REACH_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_FAULT_REACH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "sim/simtest/plan/simtest_plan.h"

namespace cableway::sim {

// The nodes of a cable, or of the switch, in the order of its ends.
std::vector<std::uint32_t> nodes_on(const ShapePlan& shape, std::size_t segment);

// The number of the target, which wraps around where the world has fewer.
std::size_t target_in(const SimtestPlan& plan, const Fault& fault);

// Whether it is a fault of this cable or of one of its nodes, or separates the nodes.
bool touches(const SimtestPlan& plan, const Fault& fault, std::size_t segment);

// Whether the fault is active at any time from `from` to `until`. A fault that lasts for the whole run always is.
bool is_at_work(const Fault& fault, Instant from, Instant until);

// How long the effects of an adversary may last after its fault ends.
inline constexpr std::chrono::seconds kHurtsFor{5};
// Whether the fault is active, or has been within that time.
bool acts_or_acted(const Fault& fault, Instant now);

// Whether it may delay or stop pulses for longer than one missed pulse, so that a cable is found silent or its other
// node to stand still. Crashes and lost carriers do not count: nodes detect these in other ways.
bool may_stop_pulses(const Fault& fault);

// Whether it affects the arrival of pulses in any way.
bool disturbs_pulses(const Fault& fault);

// Whether a fault for which `counts` holds touches the segment and is active at any time from `from` to `until`.
bool is_touched(const SimtestPlan& plan, std::size_t segment, Instant from, Instant until,
                const std::function<bool(const Fault&)>& counts);

// The node whose name the insider of a kLie uses; nullopt: it has a name of its own.
std::optional<std::size_t> namesake_of(const SimtestPlan& plan, const Fault& fault);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_FAULT_REACH_H_
