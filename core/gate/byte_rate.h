// The recent growth rate of a byte count, in bytes per second.
//
// One thread at a time. Neither blocks nor allocates.
#ifndef CABLEWAY_CORE_GATE_BYTE_RATE_H_
#define CABLEWAY_CORE_GATE_BYTE_RATE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/clock.h"

namespace cableway {

// More than any port carries. Loads reported by others are limited to this value, so that sums do not overflow.
inline constexpr std::uint64_t kMaxBytesPerSecond = std::uint64_t{1} << 50U;

class ByteRate {
 public:
  // The minimum length of a measurement. Collectives pause for milliseconds between their steps.
  static constexpr std::chrono::milliseconds kWindow{250};

  bool is_due(Instant now) const { return !is_measured_ || now >= measured_at_ + kWindow; }
  // Requires is_due(). The first call begins the first measurement. A count below the previous one means that the
  // counter was reset.
  void measure(Instant now, std::uint64_t count) {
    const double seconds = std::chrono::duration<double>(now - measured_at_).count();
    const bool is_rate = is_measured_ && count >= count_;
    const double rate = is_rate ? static_cast<double>(count - count_) / seconds : 0;
    per_second_ = static_cast<std::uint64_t>(std::min(rate, static_cast<double>(kMaxBytesPerSecond)));
    is_measured_ = true;
    measured_at_ = now;
    count_ = count;
  }
  std::uint64_t per_second() const { return per_second_; }

 private:
  bool is_measured_ = false;
  Instant measured_at_;
  std::uint64_t count_ = 0;
  std::uint64_t per_second_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_GATE_BYTE_RATE_H_
