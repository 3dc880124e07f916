// Requests an answer from the kernel of a cable's other end that needs no process there: a connection to a TCP port
// where nothing listens, which that kernel resets at once. This distinguishes a host whose node is stalled from a
// silent cable, even without other traffic.
#ifndef CABLEWAY_CORE_LINUX_PULSE_KERNEL_PROBE_H_
#define CABLEWAY_CORE_LINUX_PULSE_KERNEL_PROBE_H_

#include <chrono>
#include <cstdint>

#include "core/clock.h"
#include "core/linux/os/unique_fd.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

// One thread. Does not wait.
class KernelProbe {
 public:
  // Asks through that interface, unless an earlier unanswered question is younger than kPatience. A question that
  // cannot be sent because there is no route counts as unanswered.
  void ask(PortId interface, const routing::PortAddress& own, const routing::PortAddress& other, std::uint16_t tcp_port,
           Instant now);
  // Whether the question was answered, by a reset or a connection. True once; the next ask() asks again.
  bool answered();
  // Closes the socket of a question that the caller has not asked about for long.
  void forget_old(Instant now) {
    if (now - asked_ > kForgotten) socket_.reset();
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{50};
  static constexpr std::chrono::seconds kForgotten{1};

  UniqueFd socket_;
  Instant asked_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PULSE_KERNEL_PROBE_H_
