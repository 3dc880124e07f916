// Feeds bytes to the generator of topologies. What it accepts must generate a connected topology, the same each time;
// an error must name the spec and what was expected.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routing/shapes/topology_generator.h"
#include "tests/fuzz/topology_demands.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::routing;
  const std::string_view spec(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Topology> topology = generate_topology(spec);
  if (!topology.ok()) {
    cableway::fuzz::require_reason(topology.status());
    require(topology.status().message().substr(0, 6) == "spec \"", "an error does not name the spec");
    return 0;
  }
  require(is_topology_spec(spec), "was generated, but is not a spec");
  require(topology->components().size() == 1, "disconnected");
  constexpr std::size_t kSmall = 1000;  // larger ones take too long to write and read
  if (topology->cable_count() > kSmall) return 0;
  require(*generate_topology(spec) == *topology, "is another topology the second time");
  cableway::fuzz::require_survives_writing(*topology);
  return 0;
}
