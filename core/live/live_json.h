// What a page shows of a node and what changes all the time: ports with their counters, problems, flows, relaying.
// Bounded, so that it costs little to make each second, however many flows there are.
#ifndef CABLEWAY_CORE_LIVE_LIVE_JSON_H_
#define CABLEWAY_CORE_LIVE_LIVE_JSON_H_

#include <cstddef>
#include <string>

#include "core/metrics/host_measures.h"
#include "core/view/view_table.h"

namespace cableway {

inline constexpr std::size_t kMaxLivePorts = 128;
inline constexpr std::size_t kMaxLiveProblems = 64;
inline constexpr std::size_t kMaxLiveFlows = 100;     // those that wait first, then those that carry most
inline constexpr std::size_t kMaxLiveCircuits = 100;  // relayed ones, those that have carried most
inline constexpr std::size_t kMaxLiveText = 1024;     // bytes of a problem, path or reason

// docs/metrics.md describes the members.
std::string live_json(const ViewSources& sources, const HostTraffic& traffic, const std::string& version);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_LIVE_JSON_H_
