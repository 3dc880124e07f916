// What the kernel counts of a node's host, for metrics and the page.
#ifndef CABLEWAY_CORE_METRICS_HOST_MEASURES_H_
#define CABLEWAY_CORE_METRICS_HOST_MEASURES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace cableway {

// One direction of an interface, since it was made.
struct TrafficCounts {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t errors = 0;
  std::uint64_t drops = 0;
  // What its RDMA device has carried; none of it is in the numbers above. nullopt: not known, or counted above.
  std::optional<std::uint64_t> rdma_bytes = {};
  friend bool operator==(const TrafficCounts&, const TrafficCounts&) = default;
};

struct InterfaceTraffic {
  TrafficCounts received;
  TrafficCounts sent;
  friend bool operator==(const InterfaceTraffic&, const InterfaceTraffic&) = default;
};

using HostTraffic = std::map<std::string, InterfaceTraffic, std::less<>>;  // by interface

// Of the node's process.
struct ProcessUse {
  double cpu_s = 0;  // all threads
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t max_files = 0;
  double start_time_s = 0;  // since 1970
};

struct HostMeasures {
  HostTraffic traffic;
  ProcessUse process;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_METRICS_HOST_MEASURES_H_
