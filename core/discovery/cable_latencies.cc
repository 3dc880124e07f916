#include "core/discovery/cable_latencies.h"

#include <chrono>
#include <optional>

namespace cableway {
namespace {

constexpr std::chrono::seconds kPublishEvery{1};
constexpr std::chrono::seconds kReviseEvery{10};

}  // namespace

void CableLatencies::hear(const NeighbourKey& key, const PortHello& hello, const HeardNeighbour* us, Instant arrival) {
  Meter& meter = meters_[key];
  const HelloEcho echo = us == nullptr ? HelloEcho() : us->echo;
  const std::optional<Duration> latency = meter.round_trip.hear(hello.sent_ns, echo, arrival);
  if (latency) meter.estimate.add(*latency, arrival);
}

void CableLatencies::restart(const NeighbourKey& key, Neighbour& neighbour) {
  meters_.erase(key);
  neighbour.latency.reset();
}

bool CableLatencies::publish(std::map<NeighbourKey, Neighbour>& neighbours, Instant now) {
  if (now - published_at_ < kPublishEvery) return false;
  published_at_ = now;
  const bool revise = now - revised_at_ >= kReviseEvery;
  if (revise) revised_at_ = now;
  bool changed = false;
  for (auto& [key, neighbour] : neighbours) {
    const auto meter = meters_.find(key);
    if (!neighbour.up || meter == meters_.end() || !meter->second.estimate.publish(revise)) continue;
    neighbour.latency = meter->second.estimate.published();
    changed = true;
  }
  return changed;
}

}  // namespace cableway
