// A cable's latency, from measurements that are never too small but often too large: interrupts, schedulers and queues
// only add. The estimate is therefore the minimum of recent measurements (K. Nichols's windowed minimum).
//
// A published latency becomes part of the topology on every node, so it changes only when it is clearly wrong.
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

  // The window is these two spans: the last one to two minutes, or longer where hellos are rare.
  Span current_;
  Span previous_;
  std::optional<Duration> published_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_LATENCY_ESTIMATE_H_
