// Feeds bytes to the reader of `cableway sim --compare`. What it accepts can be compared; an error names
// the file.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tests/fuzz/require.h"
#include "tools/cableway/sim/sim_compare.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::cli;
  using cableway::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<SimResult> result = parse_sim_result(text, "fuzz.json");
  if (!result.ok()) {
    const std::string message(result.status().message());
    require(message.find("fuzz.json") != std::string::npos, "an error does not name the file");
    require(message.size() < 4096, "an error is too long");
    return 0;
  }
  const std::string shown = comparison_text(*result, *result);
  for (const char c : shown)
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "a control character is shown");
  require(nlohmann::json::accept(comparison_json(*result, *result)), "the output is not JSON");
  return 0;
}
