// Feeds bytes to the topology file parser. What it accepts must be whole and survive being written and read again; what
// it refuses must name file and line and what was expected.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/route_table.h"
#include "routing/topology_drawing.h"
#include "routing/topology_file.h"

namespace {

void require(bool holds, const char* what, const std::string& detail) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

void check_error(const std::string& message) {
  constexpr std::string_view kPrefix = "fuzz.toml:";
  require(message.compare(0, kPrefix.size(), kPrefix) == 0, "an error does not name the file", message);
  const std::size_t digits = message.find_first_not_of("0123456789", kPrefix.size()) - kPrefix.size();
  require(digits > 0 && message.compare(kPrefix.size() + digits, 2, ": ") == 0, "an error names no line", message);
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected", message);
  require(message.size() < 4096, "an error is too long", message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway::routing;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Topology> topology = parse_topology(text, "fuzz.toml");
  if (!topology.ok()) {
    check_error(std::string(topology.status().message()));
    return 0;
  }
  require(topology->components().size() == 1, "disconnected, yet accepted", std::string(text));
  const std::string written = to_topology_file(*topology);
  const absl::StatusOr<Topology> again = parse_topology(written, "again.toml");
  require(again.ok() && *again == *topology, "does not survive a round trip", written);
  require(!draw_topology(*topology).empty(), "is not drawn", written);
  const NodeIndex last{static_cast<std::uint32_t>(topology->node_count() - 1)};
  const RouteTable routes = compute_routes(*topology, NodeIndex{0});
  const auto drains = [](const Node& node) { return node.draining; };
  const bool all_relay = std::none_of(topology->nodes().begin(), topology->nodes().end(), drains);
  require(!all_relay || routes.path_for_flow(last, 0).exists(), "is connected, yet has no path", written);
  return 0;
}
