// A circuit's rate and latency, estimated from when chunks land. Rate: from successive chunks, recent ones counting
// most. Latency: from the first chunk after a pause, which would otherwise make a circuit that is given single chunks
// seem slow, and be given ever fewer.
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
  // Half of what is counted is forgotten once so many bytes have landed.
  static constexpr double kRemembered = 4U << 20;
  // Reports that are read together came one after the other: those so soon after the first one, or within a quarter of
  // the time that a chunk takes, tell nothing.
  static constexpr std::chrono::microseconds kTogether{100};

  // The circuit has chunks to carry from now on.
  void resume(Instant now) {
    since_ = now;
    has_landed_ = false;
  }
  // `bytes` more have landed since resume(), or the call before. `others`: the rate of the fastest circuit beside it,
  // in bytes per second; 0: there is none.
  void landed(std::uint64_t bytes, Instant now, double others = 0) {
    const Duration took = now - std::exchange(since_, now);
    if (!std::exchange(has_landed_, true)) {
      first_landed_ = now;
      // At a lower rate it would not have landed yet. But one chunk may be faster than those that follow, as where a
      // shaper lets a burst pass, so it makes no circuit the fastest.
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

  // When a chunk will have landed that follows `in_flight` bytes: seconds from now. While there are some, the circuit
  // is taken to be the slower the longer nothing lands.
  double seconds_until_landed(std::uint64_t in_flight, std::uint64_t chunk, Instant now) const {
    const double silent = in_flight > 0 ? seconds(now - since_) : 0;
    const double behind_others = static_cast<double>(in_flight + chunk) * (seconds_ + silent) / bytes_;
    return std::max(behind_others, distance_ + seconds_for(chunk));
  }
  // For so many bytes at the circuit's rate.
  Duration time_for(std::uint64_t bytes) const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds_for(bytes)));
  }
  double bytes_per_second() const { return bytes_ / seconds_; }
  // What it carries in that time.
  std::uint64_t bytes_in(Duration time) const { return static_cast<std::uint64_t>(seconds(time) * bytes_per_second()); }
  // How long a chunk is on an idle way, without its own length.
  Duration distance() const { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(distance_)); }
  // What lands during the time that a chunk takes on an idle way, without its own length.
  std::uint64_t bytes_on_its_way() const { return static_cast<std::uint64_t>(distance_ * bytes_per_second()); }
  // Since when nothing has landed, and the circuit has not resumed.
  Instant since() const { return since_; }

 private:
  // Until something has landed all circuits are equal. At least as fast as any cable, as a circuit that is taken to be
  // slow is given nothing that would show how fast it is. Little of this is left soon.
  static constexpr double kFirstBytes = 64U << 10;
  static constexpr double kFirstBytesPerSecond = 50e9;

  static double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
  double seconds_for(std::uint64_t bytes) const { return static_cast<double>(bytes) * seconds_ / bytes_; }
  // The least counts, as queues on the way only make it longer; a greater one counts a little, as paths change.
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
  bool has_landed_ = false;  // something, after resume()
  Instant first_landed_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_RATE_H_
