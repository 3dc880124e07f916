// What a node's relay is doing and has done, as a snapshot for people and metrics.
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
  HopTransport upstream = {};  // of this node's two ends
  HopTransport downstream = {};
};

// Units: bytes, unless a number of something.
struct RelayMemoryStatus {
  std::uint64_t bytes = 0;  // that the relay may take
  std::uint64_t max_circuits = 0;
  std::uint64_t floors = 0;  // of the circuits that are open
  std::uint64_t leases = 0;
  std::uint64_t leased = 0;      // now
  std::uint64_t max_leased = 0;  // at a time, so far
  std::uint64_t leased_bytes = 0;
  std::uint64_t waits = 0;  // times a circuit wanted a lease and none was there
};

// Registered memory of circuits with a hop over RDMA. Bytes, unless a number of something.
struct RdmaMemoryStatus {
  std::uint64_t registered = 0;  // now: the circuits' own slots and the leases, those too that are not leased
  std::uint64_t floors = 0;      // of that, the circuits' own
  std::uint64_t leases = 0;
  std::uint64_t leased = 0;
  std::uint64_t max_leased = 0;
  std::uint64_t leased_bytes = 0;
  std::uint64_t waits = 0;
};

struct RelayStatus {
  std::vector<CircuitStatus> circuits;  // open ones
  std::uint64_t circuits_opened = 0;
  std::uint64_t circuits_broken = 0;  // by a fault, or while a chunk was on its way through here
  std::uint64_t chunks = 0;           // all circuits, closed ones included
  std::uint64_t bytes = 0;
  std::uint64_t setups_refused = 0;
  RelayMemoryStatus memory;
  RdmaMemoryStatus rdma_memory;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_RELAY_STATUS_H_
