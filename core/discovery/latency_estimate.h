// A cable's latency, from measurements that are never too small but often too large: interrupts, schedulers and queues
// only add. So it is the least of what was measured lately (K. Nichols's windowed minimum).
//
// What is published becomes part of the topology on every node, so it is held for as long as it may be right.
#ifndef CABLEWAY_CORE_DISCOVERY_LATENCY_ESTIMATE_H_
#define CABLEWAY_CORE_DISCOVERY_LATENCY_ESTIMATE_H_

#include <cstdint>
#include <optional>

#include "core/clock.h"

namespace cableway {

class LatencyEstimate {
 public:
  void add(Duration measured, Instant now);
  // Publishes the latency if enough was measured: for the first time, or if `again`, one that has changed enough.
  // Returns whether published() has changed.
  bool publish(bool again);
  const std::optional<Duration>& published() const { return published_; }

 private:
  struct Span {
    Instant began;
    std::uint32_t count = 0;
    Duration least = Duration::max();
  };

  bool differs(Duration least) const;

  // The window is these two: what is older than two minutes is forgotten, what is younger than one is not.
  Span current_;
  Span previous_;
  std::optional<Duration> published_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_LATENCY_ESTIMATE_H_
