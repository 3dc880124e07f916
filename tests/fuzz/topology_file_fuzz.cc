// Feeds bytes to the topology file parser. What it accepts must be valid and survive being written and read again; an
// error must name the file, the line and what was expected.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "routing/paths/route_table.h"
#include "routing/topology/disconnected.h"
#include "routing/topology_io/topology_drawing.h"
#include "routing/topology_io/topology_file.h"
#include "tests/fuzz/topology_demands.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::routing;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Topology> topology = parse_topology(text, "fuzz.toml");
  if (!topology.ok()) {
    cableway::fuzz::require_reason(topology.status());
    require(cableway::fuzz::names_line(std::string(topology.status().message()), "fuzz.toml"),
            "an error names no line");
    return 0;
  }
  require(!find_disconnected(*topology).has_value(), "disconnected, yet accepted");
  cableway::fuzz::require_survives_writing(*topology);
  require(!draw_topology(*topology).empty(), "is not drawn");
  const NodeIndex last{static_cast<std::uint32_t>(topology->node_count() - 1)};
  const RouteTable routes = compute_routes(*topology, NodeIndex{0});
  const auto drains = [](const Node& node) { return node.draining; };
  const bool nothing_drains =
      topology->unused_cables().empty() && std::none_of(topology->nodes().begin(), topology->nodes().end(), drains);
  require(!nothing_drains || routes.path_for_flow(last, 0).exists(), "is connected, yet has no path");
  return 0;
}
