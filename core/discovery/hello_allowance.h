// How many hellos of one neighbour count: a token bucket. A node sends at most 100 a second; without this bound, one
// that sends thousands would take this node's processor time.
#ifndef CABLEWAY_CORE_DISCOVERY_HELLO_ALLOWANCE_H_
#define CABLEWAY_CORE_DISCOVERY_HELLO_ALLOWANCE_H_

#include <algorithm>
#include <chrono>

#include "core/clock.h"

namespace cableway {

class HelloAllowance {
 public:
  static constexpr std::chrono::milliseconds kEvery{8};
  static constexpr int kBurst = 64;  // those that waited while this node stalled

  // False: ignore this hello. The next one says the same.
  bool take(Instant now) {
    if (full_at_ - now >= kBurst * Duration(kEvery)) return false;
    full_at_ = std::max(full_at_, now) + Duration(kEvery);
    return true;
  }

 private:
  Instant full_at_;  // when the bucket will be full again
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_HELLO_ALLOWANCE_H_
