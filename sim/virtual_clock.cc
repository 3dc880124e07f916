#include "sim/virtual_clock.h"

#include <algorithm>

namespace cableway::sim {

class VirtualClock::Entry final : public Timer {
 public:
  Entry(VirtualClock& clock, Place place) : clock_(clock), place_(place) {}
  ~Entry() override { clock_.calls_to_come_.erase(place_); }

 private:
  VirtualClock& clock_;
  const Place place_;
};

std::unique_ptr<Timer> VirtualClock::call_at(Instant when, std::function<void()> work) {
  const Place place{std::max(when, now_), next_++};
  calls_to_come_.emplace(place, std::move(work));
  return std::make_unique<Entry>(*this, place);
}

void VirtualClock::post_at(Instant when, std::function<void()> work) {
  calls_to_come_.emplace(Place{std::max(when, now_), next_++}, std::move(work));
}

bool VirtualClock::run_next(Instant until) {
  const auto first = calls_to_come_.begin();
  if (first == calls_to_come_.end() || first->first.first > until) return false;
  now_ = first->first.first;
  // Taken out first: the call may drop its own timer.
  const std::function<void()> work = std::move(first->second);
  calls_to_come_.erase(first);
  ++calls_;
  work();
  return true;
}

void VirtualClock::run_until(Instant until) {
  while (run_next(until)) {
  }
  now_ = std::max(now_, until);
}

bool VirtualClock::run_until_true(const std::function<bool()>& done, Duration limit) {
  const Instant end = now_ + limit;
  while (!done()) {
    if (!run_next(end)) {
      now_ = end;
      return done();
    }
    // The rest of the same moment.
    run_until(now_);
  }
  return true;
}

}  // namespace cableway::sim
