// Estimates a circuit's rate and latency from the times at which chunks land. The rate comes from successive chunks,
// with most weight on recent ones. The latency comes from the first chunk after a pause. If that chunk counted
// towards the rate, a circuit that gets single chunks would seem slow and get ever fewer.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/clock.h"

namespace cableway {

class CircuitRate {
 public:
  // Half of the history is forgotten whenever it reaches this number of bytes.
  static constexpr double kRemembered = 4U << 20;
  // Reports that are read together arrived one after the other. A report within this time of the first one, or within
  // a quarter of the time that a chunk takes, carries no information about the rate.
  static constexpr std::chrono::microseconds kTogether{100};

  // The circuit has chunks to carry from now on.
  void resume(Instant now) {
    since_ = now;
    has_landed_ = false;
  }
  // `bytes` have landed since resume() or the previous call. `others`: the rate of the fastest other circuit, in
  // bytes per second; 0: there is none.
  void landed(std::uint64_t bytes, Instant now, double others = 0) {
    const Duration took = now - std::exchange(since_, now);
    if (!std::exchange(has_landed_, true)) {
      first_landed_ = now;
      // At a lower rate this chunk would not have landed yet, so the estimate rises. A single chunk may be faster
      // than those that follow, for instance where a shaper lets a burst pass, so the estimate does not rise above
      // the fastest other circuit.
      const double least_s = others > 0 ? static_cast<double>(bytes) / others : seconds_for(bytes);
      seconds_ *= std::min(1.0, std::max(seconds(took), least_s) / seconds_for(bytes));
      note_distance(seconds(took) - seconds_for(bytes));
      return;
    }
    if (now - first_landed_ < std::min<Duration>(kTogether, time_for(bytes) / 4)) return;
    bytes_ += static_cast<double>(bytes);
    seconds_ += seconds(took);
    if (bytes_ < kRemembered) return;
    bytes_ /= 2;
    seconds_ /= 2;
  }

  // The time in seconds from now until a chunk sent after `in_flight` bytes will have landed. While bytes are in
  // flight, the estimated rate falls the longer nothing lands.
  double seconds_until_landed(std::uint64_t in_flight, std::uint64_t chunk, Instant now) const {
    const double silent = in_flight > 0 ? seconds(now - since_) : 0;
    const double behind_others = static_cast<double>(in_flight + chunk) * (seconds_ + silent) / bytes_;
    return std::max(behind_others, distance_ + seconds_for(chunk));
  }
  // The time that `bytes` take at the circuit's rate.
  Duration time_for(std::uint64_t bytes) const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds_for(bytes)));
  }
  double bytes_per_second() const { return bytes_ / seconds_; }
  // The bytes that the circuit carries in `time`.
  std::uint64_t bytes_in(Duration time) const { return static_cast<std::uint64_t>(seconds(time) * bytes_per_second()); }
  // The latency of an idle path: the time that a chunk takes, less the time due to its length.
  Duration distance() const { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(distance_)); }
  // The bytes that land during distance(): the bandwidth-delay product.
  std::uint64_t bytes_on_its_way() const { return static_cast<std::uint64_t>(distance_ * bytes_per_second()); }
  // The time of the latest landing or resume().
  Instant since() const { return since_; }

 private:
  // The estimate before anything has landed, equal for all circuits. It is at least as fast as any cable, since a
  // circuit that is assumed to be slow gets no chunk that could prove otherwise. It loses its weight soon.
  static constexpr double kFirstBytes = 64U << 10;
  static constexpr double kFirstBytesPerSecond = 50e9;

  static double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
  double seconds_for(std::uint64_t bytes) const { return static_cast<double>(bytes) * seconds_ / bytes_; }
  // Queues on the path only increase the latency, so a smaller value counts fully. A greater one counts a little,
  // since paths change.
  void note_distance(double measured) {
    measured = std::max(measured, 0.0);
    distance_ = has_distance_ ? std::min(measured, distance_ + (measured - distance_) / 16) : measured;
    has_distance_ = true;
  }

  double bytes_ = kFirstBytes;
  double seconds_ = kFirstBytes / kFirstBytesPerSecond;
  double distance_ = 0;  // seconds
  bool has_distance_ = false;
  Instant since_;
  bool has_landed_ = false;  // since resume()
  Instant first_landed_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_
