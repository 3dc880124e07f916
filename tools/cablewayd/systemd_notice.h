// What a node started by systemd tells it: that it is ready, reloads or stops, and, for its watchdog, that its control
// thread still runs (systemd.service(5), Type=notify and WatchdogSec=). libsystemd is loaded only where systemd asks
// for notices, so that containers and other hosts need not have it.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_SYSTEMD_NOTICE_H_
#define CABLEWAY_TOOLS_CABLEWAYD_SYSTEMD_NOTICE_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cableway {

// Lives on the thread that runs `io`, which the watchdog monitors. A notice that systemd does not take is dropped:
// what it waits for has a timeout of its own.
class SystemdNotice {
 public:
  // FailedPrecondition: systemd expects notices (NOTIFY_SOCKET), but libsystemd cannot be loaded. Without NOTIFY_SOCKET
  // every call is without effect.
  static absl::StatusOr<std::unique_ptr<SystemdNotice>> open(boost::asio::io_context& io);
  SystemdNotice(const SystemdNotice&) = delete;
  SystemdNotice& operator=(const SystemdNotice&) = delete;

  // Also begins to answer the watchdog, if the unit has one.
  void ready();
  void reloading();
  void reloaded() { send("READY=1"); }
  void stopping(const std::string& reason);

 private:
  using Notify = int (*)(int unset_environment, const char* state);

  SystemdNotice(boost::asio::io_context& io, Notify notify, std::chrono::microseconds watchdog)
      : notify_(notify), watchdog_(watchdog), timer_(io) {}
  void send(const std::string& state);
  void answer_watchdog();

  const Notify notify_;                       // null: systemd expects no notices
  const std::chrono::microseconds watchdog_;  // 0: the unit has none
  boost::asio::steady_timer timer_;
};

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_SYSTEMD_NOTICE_H_
