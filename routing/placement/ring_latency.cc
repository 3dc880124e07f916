#include "routing/placement/ring_latency.h"

#include <cstddef>

#include "routing/paths/shortest_paths.h"

namespace cableway::routing {
namespace {

std::optional<double> latency_between(const Topology& topology, NodeIndex from, NodeIndex to) {
  const ShortestPaths paths = shortest_paths_from(topology, from);
  if (!paths.reaches(to)) return std::nullopt;
  double sum = 0;
  for (NodeIndex at = to; at != from;) {
    const Adjacency& step = paths.last_steps(at).front();
    const std::optional<double>& latency = topology.cable(step.cable).latency_us;
    if (!latency) return std::nullopt;
    sum += *latency;
    at = step.neighbour;
  }
  return sum;
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
