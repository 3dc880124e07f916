// Feeds bytes to the mix file parser. What it accepts must be valid and survive being written and read again; an error
// must name the file, the line and what was expected.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sim/workload/mix_file.h"
#include "tests/fuzz/require.h"
#include "tests/sim/workload/mix_text.h"

namespace {

using cableway::fuzz::require;

void check_error(const std::string& message) {
  constexpr std::string_view kPrefix = "fuzz.toml:";
  require(message.compare(0, kPrefix.size(), kPrefix) == 0, "an error does not name the file");
  const std::size_t digits = message.find_first_not_of("0123456789", kPrefix.size()) - kPrefix.size();
  require(digits > 0 && message.compare(kPrefix.size() + digits, 2, ": ") == 0, "an error names no line");
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected");
  require(message.size() < 4096, "an error is too long");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::workload;
  const absl::StatusOr<Mix> mix = parse_mix(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.toml");
  if (!mix.ok()) {
    check_error(std::string(mix.status().message()));
    return 0;
  }
  for (std::size_t place = 0; place < mix->groups.size(); ++place) {
    const MixGroup& group = mix->groups[place];
    require(check_ranks(group.workload.workload, static_cast<int>(group.ranks.size())).ok(), "ranks are missing");
    for (const std::size_t earlier : group.after) require(earlier < place, "waits for a group that is not above it");
  }
  require(ranks_needed(*mix) >= 2 && ranks_needed(*mix) <= kMaxRanks, "ranks are out of bounds");
  const absl::StatusOr<Mix> again = parse_mix(test::to_mix_file(*mix), "again.toml");
  require(again.ok() && *again == *mix, "does not survive a round trip");
  return 0;
}
