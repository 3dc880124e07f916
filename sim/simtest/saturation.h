// Every node sends to every other one at once, with more than its relays have slots for: does all of it arrive, and
// does what waits ever wait in a circle?
#ifndef CABLEWAY_SIM_SIMTEST_SATURATION_H_
#define CABLEWAY_SIM_SIMTEST_SATURATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/simtest/rules/rules.h"
#include "sim/simtest/simtest_run.h"

namespace cableway::sim {

// On a random connected graph of 2 to `max_nodes` nodes that the seed decides, as are slots, leases and windows. Rule
// 5 is broken where a cycle is found, or something does not arrive.
SimtestResult run_saturation(std::uint64_t seed, std::size_t max_nodes);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SATURATION_H_
