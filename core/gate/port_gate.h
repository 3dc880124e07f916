// Whether an alternate's chunks may leave by a port: closed while the port is in use by flows' own paths, open again
// after it has been quiet for a while. That time is doubled whenever the gate closes soon after it has opened: a flow
// that pauses for a moment again and again needs its port, and what an alternate puts there meanwhile may even be why
// it pauses. A port that is not known is closed.
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
  // From the end of the last use until it opens, at first and at most.
  static constexpr std::chrono::milliseconds kQuiet{10};
  static constexpr std::chrono::milliseconds kLongestQuiet{1000};
  // After being open this long, a gate starts again with kQuiet.
  static constexpr std::chrono::milliseconds kLongOpen{500};

  PortGate() = default;
  explicit PortGate(EgressPort port) : port_(port) {}

  // `busy_until`: until then it is closed for another reason (relay_load.h).
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
