// Follows the kernel's network interfaces and addresses through rtnetlink.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/ports/kernel_network.h"
#include "core/linux/ports/link_loss.h"

namespace cableway::host {

// Links follow the kernel's notifications, which are not delayed by kernel locks once sent: a lost carrier is seen
// even while a driver is busy. Addresses are re-read after notifications about them, since only a dump has their
// order; everything is re-read after notifications were lost. Wakes up for notifications, several times within a
// second after a link was lost, and one second after a failed read. Runs on the thread that runs `io`, and on its own
// thread that re-reads carriers after a loss; the destructor waits for such a read.
class NetlinkWatch {
 public:
  // Everything has been read when it returns. Calls `changed` after notifications, once for all that had arrived; it
  // may destroy the watch. Unavailable if this system has no rtnetlink.
  //
  // `lost` is called before that, without any read, for each notification of a loss, even if the link has its carrier
  // again by then. It must not destroy the watch.
  static absl::StatusOr<std::unique_ptr<NetlinkWatch>> start(
      boost::asio::io_context& io, std::function<void()> changed,
      std::function<void(const LinkLoss&)> lost = [](const LinkLoss&) {});
  ~NetlinkWatch();
  NetlinkWatch(const NetlinkWatch&) = delete;
  NetlinkWatch& operator=(const NetlinkWatch&) = delete;

  const KernelNetwork& network() const;
  // How often notifications were lost and everything was re-read.
  std::uint64_t overruns() const;
  // The netlink socket, for tests that fill it.
  int descriptor() const;

 private:
  struct State;
  explicit NetlinkWatch(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_WATCH_H_
