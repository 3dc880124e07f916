// Feeds bytes to the reader of Graphviz graphs. What it accepts must be a connected topology that survives being
// written; what it refuses must name file and line and what was expected.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routing/topology/disconnected.h"
#include "routing/topology_io/dot_topology.h"
#include "tests/fuzz/topology_demands.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::routing;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Topology> topology = parse_dot_topology(text, "fuzz.dot");
  if (!topology.ok()) {
    cableway::fuzz::require_reason(topology.status());
    require(cableway::fuzz::names_line(std::string(topology.status().message()), "fuzz.dot"), "an error names no line");
    return 0;
  }
  require(!find_disconnected(*topology).has_value(), "disconnected, yet accepted");
  cableway::fuzz::require_survives_writing(*topology);
  return 0;
}
