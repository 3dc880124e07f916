// Counts the packets that have arrived at interfaces. Packets that arrived over RDMA are not counted: the counters of
// RDMA devices are not read, since a read may wait for firmware that does not respond.
#ifndef CABLEWAY_CORE_LINUX_PULSE_RECEIVE_COUNTERS_H_
#define CABLEWAY_CORE_LINUX_PULSE_RECEIVE_COUNTERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// By interface.
using ReceivedPackets = std::map<std::string, std::uint64_t, std::less<>>;

// Adds the counters in the text of /proc/net/dev to `packets`, or updates them there.
void take_received_packets(std::string_view table, ReceivedPackets& packets);

// One thread.
class ReceiveCounters {
 public:
  // Reads the interfaces of the network namespace of the calling thread.
  ReceiveCounters();

  // Reads the counters of all interfaces, for packets().
  void refresh();
  // 0: there is no such interface, or refresh() has not run. A driver may update its counter up to a second late.
  std::uint64_t packets(std::string_view interface) const;

 private:
  // A longer table is truncated. Reading /proc/net/dev does not take the kernel's RTNL lock, which a slow change of
  // another interface may hold.
  static constexpr std::size_t kMaxTableBytes = 256 << 10;

  const UniqueFd table_;
  std::vector<char> text_;
  ReceivedPackets packets_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PULSE_RECEIVE_COUNTERS_H_
