// Spares a flow end that is polled in a loop most polls of its quiet circuits. Each is a system call over TCP, and a
// small message, which goes over the primary, would wait for those of all others.
#ifndef CABLEWAY_CORE_QUIET_POLLS_H_
#define CABLEWAY_CORE_QUIET_POLLS_H_

#include <chrono>
#include <cstdint>
#include <utility>

#include "core/clock.h"

namespace cableway {

// Of one circuit. Counts times and not polls, as the flow does not know how often it is polled.
class QuietPolls {
 public:
  // A circuit is quiet once nothing has moved over it for so long. On cables of 11 Gbit/s and more the next chunk of
  // 128 KiB comes sooner; on slower ones kPause is short beside a chunk.
  static constexpr std::chrono::microseconds kQuietAfter{100};
  // Between two polls of a quiet circuit while its flow has a large message. Over RDMA a poll costs little;
  // every 256th looks for a lost neighbour.
  static constexpr std::chrono::microseconds kPause{10};
  // While the flow has none: only control frames (retire, gate, close) are expected over the circuit, or the first
  // chunk after the source has made it the primary.
  static constexpr std::chrono::microseconds kIdlePause{1000};

  // Whether to poll it now; `moved`: ChunkLink::bytes_moved() of its link; `pause`: one of the two above.
  bool is_due(std::uint64_t moved, Duration pause, Instant now) {
    if (std::exchange(moved_, moved) != moved) moved_at_ = now;
    const bool is_quiet = now - moved_at_ >= kQuietAfter;
    if (is_quiet && now - polled_at_ < pause) return false;
    polled_at_ = now;
    return true;
  }

 private:
  std::uint64_t moved_ = 0;
  Instant moved_at_;
  Instant polled_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_QUIET_POLLS_H_
