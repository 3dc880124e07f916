// Ends a node that a job started after it has been idle for a while.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_IDLE_WATCH_H_
#define CABLEWAY_TOOLS_CABLEWAYD_IDLE_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "core/linux/node/node_service.h"
#include "core/linux/session/node_starter.h"

namespace cableway {

class IdleWatch {
 public:
  // Calls `end` once `service` has been idle for `linger`, but not before the starting process had time to open its
  // session.
  IdleWatch(boost::asio::io_context& io, const host::NodeService& service, std::chrono::seconds linger,
            std::function<void()> end)
      : service_(service),
        linger_(linger),
        end_(std::move(end)),
        timer_(io),
        needed_(Clock::now() + host::kNodeJoinLimit) {
    check();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void check() {
    const auto now = Clock::now();
    if (!service_.idle()) needed_ = now;
    if (now - needed_ > linger_) return end_();
    timer_.expires_after(std::chrono::milliseconds(500));
    timer_.async_wait([this](boost::system::error_code stopped) {
      if (!stopped) check();
    });
  }

  const host::NodeService& service_;
  const std::chrono::seconds linger_;
  const std::function<void()> end_;
  boost::asio::steady_timer timer_;
  Clock::time_point needed_;
};

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_IDLE_WATCH_H_
