// Feeds bytes to the parser of fault plans. What it accepts survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/simtest/plan/fault.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::sim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<FaultPlan> plan = parse_fault_plan(text);
  if (!plan.ok()) {
    cableway::fuzz::require(plan.status().message().find("expected") != std::string::npos,
                            "an error that does not say what was expected");
    return 0;
  }
  const absl::StatusOr<FaultPlan> again = parse_fault_plan(to_text(*plan));
  cableway::fuzz::require(again.ok() && *again == *plan, "a plan is not read as it was written");
  return 0;
}
