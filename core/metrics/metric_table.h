// Every metric of a node: the one table that the text, docs/metrics.md and the tests of dashboards share. Names follow
// the conventions of Prometheus (base units, _total for counters); they are never renamed or given another meaning.
#ifndef CABLEWAY_CORE_METRICS_METRIC_TABLE_H_
#define CABLEWAY_CORE_METRICS_METRIC_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cableway {

enum class Metric : std::uint8_t {
  kBuildInfo,
  kNodeInfo,
  kDraining,
  kNodes,
  kTopologyCables,
  kCablesUp,
  kSessions,
  kProblems,
  kProblem,
  kEvents,
  kPortCarrier,
  kPortSpeed,
  kPortCables,
  kPortBytes,
  kPortRdmaBytes,
  kPortPackets,
  kPortErrors,
  kPortDrops,
  kCableUp,
  kCableLatency,
  kCableLoss,
  kCablesLeftOut,
  kControlDatagrams,
  kControlDropped,
  kControlErrors,
  kHellosDropped,
  kAdvertisements,
  kAdvertisementsIgnored,
  kAdvertisementsOwn,
  kSegmentsAgain,
  kFlowsOpen,
  kFlowsWaiting,
  kFlowsOpened,
  kFlowsFailed,
  kFlowRate,
  kFlowsLeftOut,
  kReroutes,
  kCircuitsRetired,
  kBytesAgain,
  kRelayBytes,
  kRelayChunks,
  kRelayCircuits,
  kRelayOpened,
  kRelayBroken,
  kRelayRefused,
  kRelayMax,
  kRelayMemoryMax,
  kRelayMemory,
  kLeases,
  kLeased,
  kLeaseWaits,
  kCpu,
  kResident,
  kVirtual,
  kOpenFds,
  kMaxFds,
  kStart,
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::kStart) + 1;

enum class MetricKind : std::uint8_t { kCounter, kGauge };

struct MetricFamily {
  Metric metric;
  std::string_view name;
  MetricKind kind;
  std::string_view labels;  // "interface,direction"; "": none
  std::string_view help;    // one line
};

// In the order of Metric.
std::span<const MetricFamily> metric_families();
const MetricFamily& family_of(Metric metric);
// "counter" or "gauge".
std::string_view name_of(MetricKind kind);

}  // namespace cableway

#endif  // CABLEWAY_CORE_METRICS_METRIC_TABLE_H_
