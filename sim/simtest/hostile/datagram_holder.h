// A party without the key on a cable: it holds back control datagrams that one port sends there, and lets them pass
// later, all at once in their order, or a part of them, each after another time, so that later ones overtake them.
#ifndef CABLEWAY_SIM_SIMTEST_HOSTILE_DATAGRAM_HOLDER_H_
#define CABLEWAY_SIM_SIMTEST_HOSTILE_DATAGRAM_HOLDER_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/plan/fault.h"
#include "sim/simtest/plan/simtest_random.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

class DatagramHolder {
 public:
  // All references outlive this.
  DatagramHolder(VirtualClock& clock, CableFabric& fabric, CableFabric::SegmentNumber segment, const Holding& holding,
                 std::uint64_t seed);

  void begin();
  // What was held back in order passes now, the rest at its own times.
  void end();

 private:
  using Way = CableFabric::Way;

  bool take(const Way& way, std::span<const std::byte> bytes);
  void let_pass();

  VirtualClock& clock_;
  CableFabric& fabric_;
  const CableFabric::SegmentNumber segment_;
  const Holding holding_;
  SimtestRandom random_;
  std::vector<std::pair<Way, std::vector<std::byte>>> held_;  // in the order of their arrival
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_HOSTILE_DATAGRAM_HOLDER_H_
