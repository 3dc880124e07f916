// A snapshot of a node's relay, for display and metrics.
#ifndef CABLEWAY_CORE_RELAY_RELAY_STATUS_H_
#define CABLEWAY_CORE_RELAY_RELAY_STATUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/circuit/hop_transport.h"

namespace cableway {

struct CircuitStatus {
  std::uint64_t flow = 0;
  std::string path;  // "n0 -c0-> n1 -c1-> n2"
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // payload, without headers
  std::uint64_t open_ms = 0;
  HopTransport upstream = {};  // transports of this node's two ends
  HopTransport downstream = {};
};

// In bytes, except for counts.
struct RelayMemoryStatus {
  std::uint64_t bytes = 0;  // the limit
  std::uint64_t max_circuits = 0;
  std::uint64_t floors = 0;  // of the circuits that are open
  std::uint64_t leases = 0;
  std::uint64_t leased = 0;      // now
  std::uint64_t max_leased = 0;  // maximum so far
  std::uint64_t leased_bytes = 0;
  std::uint64_t waits = 0;  // number of times that a circuit needed a lease and none was free
};

// Registered memory of circuits with a hop over RDMA. In bytes, except for counts.
struct RdmaMemoryStatus {
  std::uint64_t registered = 0;  // now: the circuits' floors and all lease slots, leased or not
  std::uint64_t floors = 0;      // of that, the floors
  std::uint64_t leases = 0;
  std::uint64_t leased = 0;
  std::uint64_t max_leased = 0;
  std::uint64_t leased_bytes = 0;
  std::uint64_t waits = 0;
};

struct RelayStatus {
  std::vector<CircuitStatus> circuits;  // open ones; none where only counts are asked for
  std::uint64_t circuits_open = 0;
  std::uint64_t circuits_opened = 0;
  std::uint64_t circuits_broken = 0;  // by a fault, or with a chunk in flight through this node
  std::uint64_t chunks = 0;           // all circuits, closed ones included
  std::uint64_t bytes = 0;
  std::uint64_t setups_refused = 0;
  RelayMemoryStatus memory;
  RdmaMemoryStatus rdma_memory;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_RELAY_STATUS_H_
