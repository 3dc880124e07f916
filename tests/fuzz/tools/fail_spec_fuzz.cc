// Feeds bytes to the parser of `cableway sim --fail`: what it accepts is a cable and a time that is not negative;
// an error gives an example.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tests/fuzz/require.h"
#include "tools/cableway/sim/fail_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cableway::fuzz::require;
  const absl::StatusOr<cableway::cli::FailSpec> spec =
      cableway::cli::parse_fail_spec(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!spec.ok()) {
    const std::string message(spec.status().message());
    require(message.find("; expected cable:") != std::string::npos, "an error does not say what was expected");
    require(message.size() < 4096, "an error is too long");
    return 0;
  }
  require(!spec->cable.empty(), "no cable");
  require(spec->when >= cableway::Duration(0), "before the beginning");
  return 0;
}
