#include "tests/routing/paths/random_hosts.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {

Topology random_hosts(std::mt19937& random) {
  const std::uint32_t count = 3 + random() % 3;
  std::vector<Node> nodes = sample_nodes(count);
  for (Node& node : nodes) {
    node.roots = {{"r0", 5000 + random() % 3 * 5000}, {"r1", 10'000}};
    if (random() % 2 == 0) node.plugs = {{"p0", 20'000}};
  }
  std::vector<Cable> cables;
  const std::uint32_t most = count + 2 + random() % 4;
  for (std::uint32_t i = 0; i < most; ++i) {
    const std::uint32_t a = i < count ? i : random() % count;
    const std::uint32_t b = i < count ? (i + 1) % count : random() % count;
    if (a == b) continue;
    Cable cable = sample_cable(static_cast<std::uint32_t>(cables.size()), a, b);
    if (random() % 4 == 0) cable.rate_mbps = 5000;
    for (Port* port : {&cable.a, &cable.b}) {
      if (random() % 2 == 0) port->plug = absl::StrCat("p", random() % 2);
      if (random() % 2 == 0) port->root = absl::StrCat("r", random() % 2);
    }
    cables.push_back(cable);
    if (random() % 3 != 0) continue;
    Cable twin = sample_cable(static_cast<std::uint32_t>(cables.size()), a, b);
    twin.a.plug = cable.a.plug;
    twin.b.plug = cable.b.plug;
    twin.a.root = absl::StrCat("r", random() % 2);
    cables.push_back(twin);
  }
  if (random() % 3 == 0) {
    for (Cable& cable : switch_segment(static_cast<std::uint32_t>(cables.size()), {0, 1, 2})) cables.push_back(cable);
  }
  keep_to_parts(nodes, cables);
  return make_topology(nodes, cables);
}

}  // namespace cableway::routing
