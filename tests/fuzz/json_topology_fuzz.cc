// Feeds bytes to the reader of JSON topologies. What it accepts must survive being written; what it refuses must name
// the file, the line or the place in the document, and what was expected.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "routing/topology_io/json_topology.h"
#include "tests/fuzz/topology_demands.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::routing;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Topology> topology = parse_json_topology(text, "fuzz.json", Disconnected::kAccepted);
  if (!topology.ok()) {
    const std::string message(topology.status().message());
    cableway::fuzz::require_reason(topology.status());
    require(cableway::fuzz::names_line(message, "fuzz.json") || message.compare(0, 11, "fuzz.json: ") == 0,
            "an error does not name the file");
    return 0;
  }
  cableway::fuzz::require_survives_writing(*topology);
  return 0;
}
