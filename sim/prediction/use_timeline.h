// Utilisation of cables over time: bytes that crossed each cable in each direction, sampled at regular intervals of
// virtual time.
//
// The length of a run is not known beforehand, so sampling starts with short intervals, and merges pairs of them
// whenever the limit is reached.
#ifndef CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_
#define CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/prediction/circuit_world.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// Directions of cables are numbered 2 * cable.value from end a, plus one from end b.
struct UseSamples {
  Duration interval{0};
  Duration whole{0};                 // the last sample covers the remainder
  std::size_t directions = 0;        // twice the cables
  std::vector<std::uint64_t> bytes;  // by sample, and in each by direction

  std::size_t count() const { return directions == 0 ? 0 : bytes.size() / directions; }
  std::uint64_t at(std::size_t sample, std::size_t direction) const { return bytes[sample * directions + direction]; }
  Duration length(std::size_t sample) const {
    return sample + 1 < count() ? interval : whole - interval * static_cast<Duration::rep>(sample);
  }
};

class UseTimeline final : private Occurrence {
 public:
  // Limits the values of all cables together; with many cables fewer samples are kept.
  static constexpr std::size_t kMaxValues = std::size_t{1} << 21;
  static constexpr std::size_t kMinSamples = 16;

  // Keeps at most `max_samples`, at least kMinSamples. The first interval should be long compared to the time of a
  // chunk, since a chunk counts when its last byte has left. Clock and world outlive this.
  UseTimeline(VirtualClock& clock, const CircuitWorld& world, Duration first_interval, std::size_t max_samples);

  void start();
  // The samples from start() until now.
  UseSamples samples() const;

 private:
  void occur(std::uint64_t) override;
  void append(std::vector<std::uint64_t>& bytes) const;
  void join_pairs();

  VirtualClock& clock_;
  const CircuitWorld& world_;
  const std::size_t directions_;
  const std::size_t max_samples_;  // even
  Duration interval_;
  Instant begin_;
  std::vector<std::uint64_t> before_;  // by direction: total at the newest sample
  std::vector<std::uint64_t> bytes_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_
