// How far a flow has come: rules about stalls watch whether it changes.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_PROGRESS_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_PROGRESS_H_

#include <cstddef>
#include <cstdint>

#include "sim/simtest/flows/simtest_flow.h"

namespace cableway::sim {

// Of the oldest message that both ends have posted.
struct FlowProgress {
  std::size_t message = SIZE_MAX;  // SIZE_MAX: there is none
  MessageState received = MessageState::kUntouched;
  std::uint64_t landed = 0;
  friend bool operator==(const FlowProgress&, const FlowProgress&) = default;
};

FlowProgress progress_of(const SimtestFlow& flow);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_PROGRESS_H_
