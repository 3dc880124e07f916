#include "core/discovery/latency_estimate.h"

#include <algorithm>
#include <chrono>

namespace cableway {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr seconds kSpan{60};
// A span lasts longer where hellos are rare, so that a window's minimum is never that of few measurements.
constexpr std::uint32_t kSpanCount = 32;
constexpr std::uint32_t kEnough = 8;

}  // namespace

void LatencyEstimate::add(Duration measured, Instant now) {
  if (current_.count >= kSpanCount && now - current_.began >= kSpan) {
    previous_ = current_;
    current_ = Span();
  }
  if (current_.count == 0) current_.began = now;
  ++current_.count;
  current_.least = std::min(current_.least, measured);
}

bool LatencyEstimate::publish(bool again) {
  if (current_.count + previous_.count < kEnough) return false;
  const Duration least = std::min(current_.least, previous_.least);
  if (published_ && (!again || !differs(least))) return false;
  published_ = least;
  return true;
}

// A lower latency is more accurate: a twentieth counts. A higher one may be temporary noise or load: it counts only if
// it exceeds the published one by more than a fifth, and by more than the noise of a busy host in its least noisy
// minute. The gap between the two thresholds prevents repeated publication of noise.
bool LatencyEstimate::differs(Duration least) const {
  if (least < *published_) return *published_ - least > std::max<Duration>(*published_ / 20, microseconds(1));
  return least - *published_ > std::max<Duration>(*published_ / 5, microseconds(10));
}

}  // namespace cableway
