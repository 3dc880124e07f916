// How busy cables are over time: what has crossed each of them in each direction, sampled at even moments of virtual
// time.
//
// Nobody knows beforehand how long a run takes, so it begins with short intervals, and joins two and two of them
// whenever it has as many as it may keep.
#ifndef CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_
#define CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/prediction/circuit_world.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// Cables in one direction are numbered 2 * cable.value, and one more for what leaves from its end b.
struct UseSamples {
  Duration interval{0};
  Duration whole{0};                 // the last sample is of what is left of it
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
  // Of many cables fewer samples are kept, so that all together are no more than this.
  static constexpr std::size_t kMaxValues = std::size_t{1} << 21;
  static constexpr std::size_t kLeastSamples = 16;

  // At most `most_samples`, at least kLeastSamples. The first interval should be long beside what a chunk takes: a
  // chunk counts when its last byte has left. Clock and world outlive this.
  UseTimeline(VirtualClock& clock, const CircuitWorld& world, Duration first_interval, std::size_t most_samples);

  void start();
  // Everything from start() until now.
  UseSamples samples() const;

 private:
  void occur(std::uint64_t) override;
  void append(std::vector<std::uint64_t>& bytes) const;
  void join_pairs();

  VirtualClock& clock_;
  const CircuitWorld& world_;
  const std::size_t directions_;
  const std::size_t most_samples_;  // even
  Duration interval_;
  Instant begin_;
  std::vector<std::uint64_t> before_;  // by direction: up to the newest sample
  std::vector<std::uint64_t> bytes_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_USE_TIMELINE_H_
