// The kernel's steady clock, with timers on an io_context's thread. Sleeps while no timer is due.
#ifndef CABLEWAY_CORE_LINUX_OS_ASIO_CLOCK_H_
#define CABLEWAY_CORE_LINUX_OS_ASIO_CLOCK_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "core/clock.h"

namespace cableway::host {

// Lives on the thread that runs `io`, and so do its timers. Timers started from inside a call run in a later turn, so
// they cannot starve the io_context's other work. Destroying the clock drops its pending calls; timers may outlive it.
// Without pending calls, io.run() returns.
class AsioClock final : public Clock {
 public:
  explicit AsioClock(boost::asio::io_context& io);
  ~AsioClock() override;

  Instant now() const override;
  [[nodiscard]] std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override;

 private:
  struct State;
  class Pending;
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_ASIO_CLOCK_H_
