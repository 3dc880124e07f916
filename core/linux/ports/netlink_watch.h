// Follows the kernel's network interfaces and addresses through rtnetlink.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/ports/kernel_network.h"

namespace cableway::host {

// Links follow the kernel's notifications, which no lock of the kernel's can delay once they are sent: a carrier that
// goes is known even while a driver is busy. Addresses are read again after notifications about them, since only a dump
// tells their order; so is everything after notifications were lost. Wakes for notifications only, and once more a
// second after a read that failed. One thread, the one that runs `io`.
class NetlinkWatch {
 public:
  // Has read everything when it returns. `changed` is called after the kernel said something, once for all messages
  // that had come; it may destroy the watch. Unavailable where this system has no rtnetlink.
  static absl::StatusOr<std::unique_ptr<NetlinkWatch>> start(boost::asio::io_context& io,
                                                             std::function<void()> changed);
  ~NetlinkWatch();
  NetlinkWatch(const NetlinkWatch&) = delete;
  NetlinkWatch& operator=(const NetlinkWatch&) = delete;

  const KernelNetwork& network() const;
  // How often notifications were lost and everything was read again.
  std::uint64_t overruns() const;
  // Of the netlink socket, for a test that fills it.
  int descriptor() const;

 private:
  struct State;
  explicit NetlinkWatch(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_
