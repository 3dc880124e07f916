// Feeds bytes to the scenario parser: an error names the place and what was expected.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/simtest/scenario_file.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cableway::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scenario = cableway::sim::parse_scenario(text, "fuzz.toml");
  if (scenario.ok()) {
    require(scenario->plan.shape.segments() > 0, "a scenario without a cable");
    return 0;
  }
  const std::string message(scenario.status().message());
  require(message.rfind("fuzz.toml:", 0) == 0, "an error does not name the file");
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected");
  return 0;
}
