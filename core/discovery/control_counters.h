// Counters of a control channel by port, for diagnosing why two nodes do not hear each other.
#ifndef CABLEWAY_CORE_DISCOVERY_CONTROL_COUNTERS_H_
#define CABLEWAY_CORE_DISCOVERY_CONTROL_COUNTERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ports/port_inventory.h"

namespace cableway {

// Of one port, since it became a port.
struct PortControlCounters {
  PortId port = 0;
  std::string interface;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t oversized = 0;    // more than kMaxDatagramBytes, sent or received
  std::uint64_t foreign = 0;      // arrived through another interface, or from a UDP port that is not a node's
  std::uint64_t own = 0;          // sent by the same port, and received again
  std::uint64_t ttl_refused = 0;  // arrived through a router
  std::map<int, std::uint64_t> send_errors;  // by errno
  std::string last_error;                    // "cannot send to 10.7.0.2: Operation not permitted"
  std::vector<std::string> not_open;         // sockets that could not be opened, and why; opening is retried
};

struct ControlCounters {
  std::vector<PortControlCounters> ports;  // sorted by id
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CONTROL_COUNTERS_H_
