// How fast a circuit carries a flow's chunks: what has landed over it, one chunk after the other. What is recent counts
// most. The first chunk after a pause tells how far it is rather than how fast, so it does not count; else a circuit
// that is given single chunks would seem slow, and be given ever less.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_

#include <chrono>
#include <cstdint>
#include <utility>

#include "core/clock.h"

namespace cableway {

class CircuitRate {
 public:
  // Half of what is counted is forgotten once so many bytes have landed.
  static constexpr double kRemembered = 4U << 20;
  // Reports that are read together came one after the other.
  static constexpr std::chrono::microseconds kTogether{100};

  // The circuit has chunks to carry from now on.
  void resume(Instant now) {
    since_ = now;
    has_landed_ = false;
  }
  // `bytes` more have landed since resume(), or the call before.
  void landed(std::uint64_t bytes, Instant now) {
    const Duration took = now - std::exchange(since_, now);
    if (!std::exchange(has_landed_, true)) first_landed_ = now;
    if (now - first_landed_ < kTogether) return;
    bytes_ += static_cast<double>(bytes);
    seconds_ += seconds(took);
    if (bytes_ < kRemembered) return;
    bytes_ /= 2;
    seconds_ /= 2;
  }

  // When so many bytes will have landed, if the circuit carries nothing else: seconds from now. `busy`: it has chunks
  // to carry; the longer nothing lands, the slower it is taken to be.
  double seconds_for(std::uint64_t bytes, bool busy, Instant now) const {
    const double silent = busy ? seconds(now - since_) : 0;
    return static_cast<double>(bytes) * (seconds_ + silent) / bytes_;
  }
  // Since when nothing has landed, and the circuit has not resumed.
  Instant since() const { return since_; }

 private:
  // Until something has landed all circuits are equal, and little of this is left soon.
  static constexpr double kFirstBytes = 64U << 10;
  static constexpr double kFirstBytesPerSecond = 125e6;

  static double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

  double bytes_ = kFirstBytes;
  double seconds_ = kFirstBytes / kFirstBytesPerSecond;
  Instant since_;
  bool has_landed_ = false;  // something, after resume()
  Instant first_landed_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_
