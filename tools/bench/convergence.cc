// Real nodes in virtual time, from power-on until all have the same complete topology: virtual time, wall time, and
// what they send. One topology per run, so that the memory is that of one topology. Prints one JSON object.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "routing/text/json_schema.h"
#include "sim/nodes/node_world.h"
#include "tools/bench/cpu_seconds.h"

namespace cableway {
namespace {

constexpr Duration kLimit = std::chrono::minutes(5);
constexpr Duration kStep = std::chrono::milliseconds(10);
constexpr std::uint64_t kSeed = 1;

// Whether the first node has the advertisements of all nodes with all their cables.
bool is_complete(const Node& node, const routing::Topology& topology) {
  const auto& entries = node.flooding().database().entries();
  if (entries.size() != topology.node_count()) return false;
  std::size_t adjacencies = 0;
  for (const auto& [origin, entry] : entries) adjacencies += entry.advertisement->adjacencies.size();
  return adjacencies == 2 * topology.cable_count();
}

int converge(const std::string& spec) {
  const absl::StatusOr<routing::Topology> topology = routing::generate_topology(spec);
  if (!topology.ok()) {
    std::cerr << "convergence: " << topology.status().message() << "\n";
    return 2;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cables;
  cables.reserve(topology->cable_count());
  for (const routing::Cable& cable : topology->cables()) cables.emplace_back(cable.a.node.value, cable.b.node.value);

  const auto begin = std::chrono::steady_clock::now();
  sim::NodeWorld world(kSeed);
  std::uint64_t bytes = 0;
  world.fabric().tap([&](std::size_t, PortId, std::span<const std::byte> sent) { bytes += sent.size(); });
  world.build(topology->node_count(), cables);
  world.start_all();
  bool converged = false;
  while (!converged && world.clock().now() < Instant{kLimit}) {
    world.clock().run_for(kStep);
    converged = is_complete(world.node(0), *topology) && world.agrees();
  }
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto nodes = static_cast<double>(topology->node_count());
  std::cout << nlohmann::ordered_json{{routing::kSchemaMember, routing::kJsonSchema},
                                      {"spec", spec},
                                      {"nodes", topology->node_count()},
                                      {"cables", topology->cable_count()},
                                      {"converged", converged},
                                      {"virtual_s",
                                       std::chrono::duration<double>(world.clock().now().since_start).count()},
                                      {"wall_s", wall_s},
                                      {"cpu_s", cpu_seconds(usage)},
                                      {"datagrams_per_node", static_cast<double>(world.fabric().datagrams()) / nodes},
                                      {"bytes_per_node", static_cast<double>(bytes) / nodes},
                                      {"happenings", world.clock().calls()},
                                      {"memory_mb", static_cast<double>(usage.ru_maxrss) / 1024}}
            << "\n";
  return converged ? 0 : 1;
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: convergence SPEC, for example torus:32x32\n";
    return 2;
  }
  return cableway::converge(argv[1]);
}
