// Every node sends to every other one at once, with more data than the relays have slots for: checks that everything
// arrives, and that there is never a circular wait.
#ifndef CABLEWAY_SIM_SIMTEST_SATURATION_H_
#define CABLEWAY_SIM_SIMTEST_SATURATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/simtest/rules/rules.h"
#include "sim/simtest/simtest_run.h"

namespace cableway::sim {

// On a random connected graph of 2 to `max_nodes` nodes; the seed determines graph, slots, leases and windows. Rule 5
// is broken if a cycle is found, or data does not arrive.
SimtestResult run_saturation(std::uint64_t seed, std::size_t max_nodes);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SATURATION_H_
