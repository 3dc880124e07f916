// Calls a function at most once in an interval, however often it is asked for.
#ifndef CABLEWAY_CORE_SPACED_CALL_H_
#define CABLEWAY_CORE_SPACED_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/clock.h"

namespace cableway {

// The first call comes at once, from inside request(); one that is asked for within `every` of the last one comes when
// that time is over, once for all requests until then. Destroying this cancels it. The call must not destroy this. One
// thread: the clock's.
class SpacedCall {
 public:
  // `clock` must outlive this.
  SpacedCall(Clock& clock, Duration every, std::function<void()> call)
      : clock_(clock), every_(every), call_(std::move(call)) {}

  void request() {
    if (timer_ != nullptr) return;
    if (!last_.has_value() || clock_.now() - *last_ >= every_) return run();
    timer_ = clock_.call_at(*last_ + every_, [this] {
      timer_.reset();
      run();
    });
  }
  // A call that was asked for is still to come.
  bool waits() const { return timer_ != nullptr; }

 private:
  void run() {
    last_ = clock_.now();
    call_();
  }

  Clock& clock_;
  Duration every_;
  std::function<void()> call_;
  std::optional<Instant> last_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SPACED_CALL_H_
