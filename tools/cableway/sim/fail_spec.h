// The value of `cableway sim --fail`: which cable is cut, and when. "cable:c3@10ms", "cable:n0-n1@1.5s", "cable:0-1@0s"
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_FAIL_SPEC_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_FAIL_SPEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/clock.h"

namespace cableway::cli {

struct FailSpec {
  std::string cable;  // its name, or the two nodes that it joins
  Duration when{0};   // since the start of the simulation
};

// InvalidArgument says what was expected.
absl::StatusOr<FailSpec> parse_fail_spec(std::string_view text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_FAIL_SPEC_H_
