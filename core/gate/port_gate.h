// Decides whether an alternate's chunks may leave through a port. The gate is closed while flows' own paths use the
// port, and opens after the port has been quiet for a while. That time doubles whenever the gate closes soon after it
// opened: a flow that repeatedly pauses for a moment needs its port, and the alternate's chunks may even be the cause
// of its pauses. The gate of an unknown port is closed.
//
// One thread at a time. Neither blocks nor allocates.
#ifndef CABLEWAY_CORE_GATE_PORT_GATE_H_
#define CABLEWAY_CORE_GATE_PORT_GATE_H_

#include <algorithm>
#include <chrono>

#include "core/clock.h"
#include "core/gate/port_stamps.h"

namespace cableway {

class PortGate {
 public:
  // The time from the end of the last use until the gate opens: initial value and maximum.
  static constexpr std::chrono::milliseconds kQuiet{10};
  static constexpr std::chrono::milliseconds kLongestQuiet{1000};
  // After being open this long, a gate starts again with kQuiet.
  static constexpr std::chrono::milliseconds kLongOpen{500};

  PortGate() = default;
  explicit PortGate(EgressPort port) : port_(port) {}

  // `busy_until`: the gate stays closed until then for another reason (relay_load.h).
  bool is_open(Instant now, Instant busy_until = {}) {
    if (!port_.is_known()) return false;
    const Instant until = std::max(port_.in_use_until(now), busy_until);
    if (open_ && now < until) {
      open_ = false;
      quiet_ = now - opened_ < kLongOpen ? std::min<Duration>(2 * quiet_, kLongestQuiet) : kQuiet;
    } else if (!open_ && now >= until + quiet_) {
      open_ = true;
      opened_ = now;
    }
    return open_;
  }
  const EgressPort& port() const { return port_; }

 private:
  EgressPort port_;
  bool open_ = true;
  Instant opened_{-kLongOpen};  // long ago
  Duration quiet_ = kQuiet;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_GATE_PORT_GATE_H_
