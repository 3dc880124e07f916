// Set-ups for circuits over loopback addresses.
#ifndef CABLEWAY_TESTS_CORE_LINUX_HOP_SAMPLE_SETUP_H_
#define CABLEWAY_TESTS_CORE_LINUX_HOP_SAMPLE_SETUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/transport_negotiator.h"
#include "core/linux/tcp/tcp_transport.h"

namespace cableway::host::test {

// n0 -c0-> n1, or n0 -c0-> n1 -c1-> n2 with `relayed`; every hop goes from 127.0.0.1 to `port` of 127.0.0.1.
inline CircuitSetup sample_setup(std::uint16_t port, bool relayed = false, std::uint32_t budget_ms = 5000) {
  CircuitSetup setup;
  setup.listener.fill(std::byte{7});
  setup.flow = 99;
  setup.chunk_bytes = 1U << 16;
  setup.budget_ms = budget_ms;
  setup.from_node = "n0";
  setup.hops.push_back(Hop{"c0", "127.0.0.1", "n1", "127.0.0.1", port, false});
  if (relayed) setup.hops.push_back(Hop{"c1", "127.0.0.1", "n2", "127.0.0.1", port, false});
  return setup;
}

// Hops whose data uses the connection of their set-up.
inline TransportNegotiator tcp_alone() {
  return {{}, make_tcp_end};
}

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_HOP_SAMPLE_SETUP_H_
