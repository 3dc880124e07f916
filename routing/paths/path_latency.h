// The latency of a path, as far as its cables' are known.
#ifndef CABLEWAY_ROUTING_PATHS_PATH_LATENCY_H_
#define CABLEWAY_ROUTING_PATHS_PATH_LATENCY_H_

#include <optional>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// The sum over its cables, in microseconds, one way; nullopt if that of one is not known. Relays add to it.
inline std::optional<double> path_latency_us(const Topology& topology, const Path& path) {
  double sum = 0;
  for (const CableIndex cable : path.cables) {
    const std::optional<double>& latency = topology.cable(cable).latency_us;
    if (!latency) return std::nullopt;
    sum += *latency;
  }
  return sum;
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_PATH_LATENCY_H_
