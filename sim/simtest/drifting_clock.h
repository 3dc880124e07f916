// A node's own clock, which runs faster or slower than the world's.
#ifndef CABLEWAY_SIM_SIMTEST_DRIFTING_CLOCK_H_
#define CABLEWAY_SIM_SIMTEST_DRIFTING_CLOCK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/clock.h"

namespace cableway::sim {

class DriftingClock final : public Clock {
 public:
  // `world` outlives this. `gains_ppm`: its deviation from the world's clock in ppm, more than -1,000,000.
  DriftingClock(Clock& world, std::int64_t gains_ppm) : world_(world), rate_(kMillion + gains_ppm) {}

  Instant now() const override { return Instant{Duration(scaled(world_.now().since_start.count(), rate_, kMillion))}; }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override {
    // Rounds up, so that this clock has reached `when` by then.
    return world_.call_at(Instant{Duration(scaled(when.since_start.count(), kMillion, rate_) + 1)}, std::move(work));
  }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;
  // Exact, and without overflow for about two hundred years.
  static std::int64_t scaled(std::int64_t value, std::int64_t times, std::int64_t by) {
    return value / by * times + value % by * times / by;
  }

  Clock& world_;
  const std::int64_t rate_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_DRIFTING_CLOCK_H_
