#include "core/linux/os/asio_clock.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

namespace cableway::host {
namespace {

using boost::system::error_code;

// Not adjusted by NTP: latencies are computed from its times (core/discovery/hello_round_trip.h), and an adjustment
// would count as latency.
Duration raw_time() {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC_RAW, &now));
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The kernel's timer rejects times much further ahead. Later calls are re-armed when this has passed.
constexpr std::chrono::hours kMaxTimerDelay{24 * 365};

// Orders calls of the same time by the order in which they were requested.
struct Place {
  Instant when;
  std::uint64_t requested = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

}  // namespace

struct AsioClock::State : std::enable_shared_from_this<State> {
  explicit State(boost::asio::io_context& io) : timer(io) {}

  const Duration start = raw_time();
  boost::asio::steady_timer timer;
  std::map<Place, std::function<void()>> calls;
  std::uint64_t requested = 0;
  std::optional<Instant> armed_for;

  Instant now() const { return Instant{raw_time() - start}; }
  void arm();
  void call_what_is_due();
  void erase(const Place& place);
};

void AsioClock::State::arm() {
  if (calls.empty()) {
    armed_for.reset();
    timer.cancel();
    return;
  }
  const Instant first = calls.begin()->first.when;
  if (armed_for.has_value() && *armed_for <= first) return;
  armed_for = first;
  // The timer's clock may run a little faster than this one: a call that is not due yet is armed again.
  timer.expires_after(std::clamp<Duration>(first - now(), Duration(0), kMaxTimerDelay));
  timer.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self) self->call_what_is_due();
  });
}

void AsioClock::State::call_what_is_due() {
  const Instant turn = now();
  const std::uint64_t requested_before = requested;
  while (!calls.empty() && calls.begin()->first.when <= turn && calls.begin()->first.requested < requested_before) {
    // Extracted first: the call may drop its own timer, or the clock.
    const auto call = calls.extract(calls.begin());
    call.mapped()();
  }
  armed_for.reset();
  arm();
}

void AsioClock::State::erase(const Place& place) {
  // Destroyed last: the function's captures may own timers.
  const auto dropped = calls.extract(place);
  if (calls.empty()) arm();
}

class AsioClock::Pending final : public Timer {
 public:
  Pending(std::weak_ptr<State> state, Place place) : state_(std::move(state)), place_(place) {}
  ~Pending() override {
    if (const auto state = state_.lock()) state->erase(place_);
  }

 private:
  const std::weak_ptr<State> state_;
  const Place place_;
};

AsioClock::AsioClock(boost::asio::io_context& io) : state_(std::make_shared<State>(io)) {}

AsioClock::~AsioClock() {
  const auto dropped = std::exchange(state_->calls, {});
  state_->arm();
}

Instant AsioClock::now() const {
  return state_->now();
}

std::unique_ptr<Timer> AsioClock::call_at(Instant when, std::function<void()> work) {
  const Place place{when, state_->requested++};
  state_->calls.emplace(place, std::move(work));
  state_->arm();
  return std::make_unique<Pending>(state_, place);
}

}  // namespace cableway::host
