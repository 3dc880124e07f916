#include "sim/simtest/flows/flow_progress.h"

#include <algorithm>
#include <vector>

namespace cableway::sim {

FlowProgress progress_of(const SimtestFlow& flow) {
  const std::vector<MessageRecord>& records = flow.records();
  const auto oldest = std::find_if(records.begin(), records.end(),
                                   [](const MessageRecord& record) { return record.sent == MessageState::kPosted; });
  if (oldest == records.end() || oldest->received == MessageState::kUntouched) return {};
  return {static_cast<std::size_t>(oldest - records.begin()), oldest->received, oldest->landed};
}

}  // namespace cableway::sim
