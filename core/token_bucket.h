// A token bucket: bounds how often something happens. It begins full.
#ifndef CABLEWAY_CORE_TOKEN_BUCKET_H_
#define CABLEWAY_CORE_TOKEN_BUCKET_H_

#include <algorithm>

#include "core/clock.h"

namespace cableway {

class TokenBucket {
 public:
  // Holds `burst` tokens, and gains one `every` so often.
  constexpr TokenBucket(Duration every, int burst) : every_(every), burst_(burst) {}

  // Takes tokens if there is at least one, also if there are fewer than `tokens`. False: there is none.
  bool take(Instant now, Duration::rep tokens = 1) {
    if (now < due()) return false;
    full_at_ = std::max(full_at_, now) + tokens * every_;
    return true;
  }
  // When there is a token, which may be earlier than now.
  Instant due() const { return full_at_ + (1 - burst_) * every_; }

 private:
  Duration every_;
  int burst_;
  Instant full_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_TOKEN_BUCKET_H_
