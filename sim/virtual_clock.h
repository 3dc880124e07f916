// Time that passes only when it is told to: every timer runs at its own moment, in one order, as fast as the host can.
#ifndef CABLEWAY_SIM_VIRTUAL_CLOCK_H_
#define CABLEWAY_SIM_VIRTUAL_CLOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "core/clock.h"

namespace cableway::sim {

// One clock serves all nodes of a world. Timers that are left when it goes must not be dropped after it.
class VirtualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override;

  // As call_at(), for what nobody will want to stop.
  void post_at(Instant when, std::function<void()> work);

  // Runs everything up to and including `until`, which is now() afterwards.
  void run_until(Instant until);
  void run_for(Duration time) { run_until(now_ + time); }
  // Runs until `done`, which is asked after every moment that has timers. False: it was not within `limit`.
  bool run_until_true(const std::function<bool()>& done, Duration limit);

  std::uint64_t calls() const { return calls_; }

 private:
  using Place = std::pair<Instant, std::uint64_t>;
  class Entry;

  bool run_next(Instant until);

  Instant now_;
  std::uint64_t next_ = 0;
  std::uint64_t calls_ = 0;
  std::map<Place, std::function<void()>> calls_to_come_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_VIRTUAL_CLOCK_H_
