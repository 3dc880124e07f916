// Feeds bytes to the parser of workloads. What it accepts must be within bounds and survive being written and read
// again; what it refuses must say what was expected, in printable characters.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sim/workload/workload_text.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::workload;
  using cableway::fuzz::require;
  const absl::StatusOr<SizedWorkload> parsed =
      parse_workload(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed.ok()) {
    const std::string message(parsed.status().message());
    require(message.find("; expected ") != std::string::npos, "an error does not say what was expected");
    require(message.size() < 4096, "an error is too long");
    for (const char c : message) {
      require(!absl::ascii_iscntrl(static_cast<unsigned char>(c)), "an error contains a control character");
    }
    return 0;
  }
  require(parsed->size >= 1 && parsed->size <= kMaxWorkloadBytes, "a size is out of bounds");
  require(check_ranks(parsed->workload, kMaxRanks).ok(), "a rank is out of bounds");
  const absl::StatusOr<SizedWorkload> again = parse_workload(workload_text(*parsed));
  require(again.ok() && *again == *parsed, "does not survive a round trip");
  return 0;
}
