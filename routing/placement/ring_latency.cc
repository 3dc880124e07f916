#include "routing/placement/ring_latency.h"

#include <cstddef>

#include "routing/paths/path_latency.h"
#include "routing/paths/route_table.h"

namespace cableway::routing {
namespace {

std::optional<double> latency_between(const Topology& topology, NodeIndex from, NodeIndex to) {
  if (from == to) return 0.0;
  const Path path = compute_routes(topology, from).path_for_flow(to, 0);
  return path.exists() ? path_latency_us(topology, path) : std::nullopt;
}

}  // namespace

std::optional<double> ring_latency_us(const Topology& topology, std::span<const NodeIndex> order) {
  double sum = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::optional<double> latency = latency_between(topology, order[rank], order[(rank + 1) % order.size()]);
    if (!latency) return std::nullopt;
    sum += *latency;
  }
  return sum;
}

}  // namespace cableway::routing
