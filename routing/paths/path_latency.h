// The latency of a path, if those of all its cables are known.
#ifndef CABLEWAY_ROUTING_PATHS_PATH_LATENCY_H_
#define CABLEWAY_ROUTING_PATHS_PATH_LATENCY_H_

#include <optional>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// The sum over its cables, in microseconds, one way; nullopt if the latency of one is not known. Does not include
// relays.
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
