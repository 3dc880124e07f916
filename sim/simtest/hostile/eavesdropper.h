// A party without the cluster's key that hears all control datagrams that arrive and may send on one cable: it plays
// them to any port and at any time, as they were or changed. The rules of the world hold all the same, since with a key
// such a party changes nothing but counters. It carries no datagram that a cable has lost: that would mend the cable.
#ifndef CABLEWAY_SIM_SIMTEST_HOSTILE_EAVESDROPPER_H_
#define CABLEWAY_SIM_SIMTEST_HOSTILE_EAVESDROPPER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/clock.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {

class Eavesdropper {
 public:
  // Hears from now on.
  explicit Eavesdropper(SimtestGround& ground);

  // Sends one datagram to an end of the cable.
  void play(std::size_t cable);

 private:
  // Of all that was heard each datagram is kept with the same probability.
  static constexpr std::size_t kKept = 4096;

  void hear(std::span<const std::byte> bytes);

  SimtestGround& ground_;
  SimtestRandom random_;
  std::vector<std::vector<std::byte>> kept_;
  std::uint64_t heard_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_HOSTILE_EAVESDROPPER_H_
