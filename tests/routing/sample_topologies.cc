#include "tests/routing/sample_topologies.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace cableway::routing {

std::vector<Node> sample_nodes(std::size_t count) {
  std::vector<Node> nodes(count);
  for (std::size_t i = 0; i < count; ++i) nodes[i].name = absl::StrCat("n", i);
  return nodes;
}

Cable sample_cable(std::uint32_t number, std::uint32_t a, std::uint32_t b) {
  const std::string subnet = absl::StrCat("10.", number / 256, ".", number % 256, ".");
  Cable cable;
  cable.name = absl::StrCat("c", number);
  cable.a = {NodeIndex{a}, "", subnet + "1"};
  cable.b = {NodeIndex{b}, "", subnet + "2"};
  return cable;
}

std::vector<Cable> switch_segment(std::uint32_t first_number, const std::vector<std::uint32_t>& nodes) {
  const auto port = [&](std::uint32_t node) {
    return Port{NodeIndex{node}, "sw0", absl::StrCat("10.200.", first_number, ".", node + 1)};
  };
  std::vector<Cable> cables;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < nodes.size(); ++b) {
      cables.push_back(sample_cable(first_number + static_cast<std::uint32_t>(cables.size()), nodes[a], nodes[b]));
      cables.back().a = port(nodes[a]);
      cables.back().b = port(nodes[b]);
    }
  }
  return cables;
}

void keep_to_parts(const std::vector<Node>& nodes, std::vector<Cable>& cables) {
  for (Cable& cable : cables) {
    for (const Port& port : {cable.a, cable.b}) {
      const Node& node = nodes[port.node.value];
      cable.rate_mbps = std::min({cable.rate_mbps, stated_rate_mbps(node.plugs, port.plug).value_or(kMaxRateMbps),
                                  stated_rate_mbps(node.roots, port.root).value_or(kMaxRateMbps)});
    }
  }
}

Topology make_topology(std::vector<Node> nodes, std::vector<Cable> cables) {
  absl::StatusOr<Topology> topology = Topology::create("test", std::move(nodes), std::move(cables));
  if (!topology.ok()) {
    std::fprintf(stderr, "not a topology: %s\n", topology.status().ToString().c_str());
    std::abort();
  }
  return *std::move(topology);
}

Topology sample_topology(std::size_t nodes, const Pairs& cables, std::optional<double> latency_us) {
  std::vector<Cable> list;
  for (const auto& [a, b] : cables) {
    list.push_back(sample_cable(static_cast<std::uint32_t>(list.size()), a, b));
    list.back().latency_us = latency_us;
  }
  return make_topology(sample_nodes(nodes), std::move(list));
}

Pairs ring_pairs(std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) pairs.emplace_back(i, (i + 1) % nodes);
  return pairs;
}

Pairs line_pairs(std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) pairs.emplace_back(i, i + 1);
  return pairs;
}

Pairs mesh_pairs(std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = a + 1; b < nodes; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

Pairs star_pairs(std::uint32_t leaves) {
  Pairs pairs;
  for (std::uint32_t leaf = 1; leaf <= leaves; ++leaf) pairs.emplace_back(0, leaf);
  return pairs;
}

Pairs torus_pairs(std::uint32_t rows, std::uint32_t columns) {
  Pairs pairs;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      pairs.emplace_back(row * columns + column, row * columns + (column + 1) % columns);
      pairs.emplace_back(row * columns + column, (row + 1) % rows * columns + column);
    }
  }
  return pairs;
}

NodeIndex node_named(const Topology& topology, const std::string& name) {
  const std::optional<NodeIndex> found = topology.find_node(name);
  if (!found) {
    std::fprintf(stderr, "no node %s\n", name.c_str());
    std::abort();
  }
  return *found;
}

}  // namespace cableway::routing
