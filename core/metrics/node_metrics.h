// The metrics of a node, for Prometheus. docs/metrics.md describes them.
#ifndef CABLEWAY_CORE_METRICS_NODE_METRICS_H_
#define CABLEWAY_CORE_METRICS_NODE_METRICS_H_

#include <cstddef>
#include <string>

#include "core/metrics/host_measures.h"
#include "core/view/view_table.h"

namespace cableway {

// Cables beyond this number have no samples of their own.
inline constexpr std::size_t kMaxMeasuredCables = 256;

// `version`: of the program.
std::string node_metrics(const ViewSources& sources, const HostMeasures& host, const std::string& version);

}  // namespace cableway

#endif  // CABLEWAY_CORE_METRICS_NODE_METRICS_H_
