// Limits the calls of a function: a burst, then one in an interval.
#ifndef CABLEWAY_CORE_SPACED_CALL_H_
#define CABLEWAY_CORE_SPACED_CALL_H_

#include <functional>
#include <memory>
#include <utility>

#include "core/clock.h"
#include "core/token_bucket.h"

namespace cableway {

// A call comes at once, from inside request(), while `bucket` has tokens; then when it has one again, once for all
// requests until then. Destroying this cancels it. The call must not destroy this. One thread: the clock's.
class SpacedCall {
 public:
  // `clock` must outlive this.
  SpacedCall(Clock& clock, TokenBucket bucket, std::function<void()> call)
      : clock_(clock), bucket_(bucket), call_(std::move(call)) {}

  void request() {
    if (timer_ != nullptr) return;
    if (bucket_.take(clock_.now())) return call_();
    timer_ = clock_.call_at(bucket_.due(), [this] {
      timer_.reset();
      request();
    });
  }
  // A call that was asked for is still to come.
  bool waits() const { return timer_ != nullptr; }

 private:
  Clock& clock_;
  TokenBucket bucket_;
  std::function<void()> call_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SPACED_CALL_H_
