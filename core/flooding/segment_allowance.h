// How fast the neighbours on one port may flood: a token bucket of segments. It outlasts adjacencies, so that a
// neighbour gets no new one by ending its adjacency and beginning another.
#ifndef CABLEWAY_CORE_FLOODING_SEGMENT_ALLOWANCE_H_
#define CABLEWAY_CORE_FLOODING_SEGMENT_ALLOWANCE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/clock.h"
#include "core/flooding/link_segment.h"
#include "core/token_bucket.h"

namespace cableway {

class SegmentAllowance {
 public:
  static constexpr std::chrono::milliseconds kEvery{10};
  static constexpr int kBurst = 256;  // about 2 MB: a full database of nodes with short names

  // For a segment of that size; one that is larger than senders make them costs as much as several. False: not yet.
  bool take(Instant now, std::size_t bytes) {
    return bucket_.take(now, static_cast<Duration::rep>(std::max<std::size_t>(bytes / kSegmentBytes, 1)));
  }

 private:
  TokenBucket bucket_{kEvery, kBurst};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_SEGMENT_ALLOWANCE_H_
