// Detects replayed datagrams of one sender by their counters: the sliding window of RFC 4303 (section 3.4.3).
#ifndef CABLEWAY_CORE_CRYPTO_REPLAY_WINDOW_H_
#define CABLEWAY_CORE_CRYPTO_REPLAY_WINDOW_H_

#include <cstdint>

namespace cableway {

class ReplayWindow {
 public:
  ReplayWindow() = default;
  // All up to this one count as seen.
  explicit ReplayWindow(std::uint64_t highest) : highest_(highest), seen_(~std::uint64_t{0}) {}

  // Whether `counter` is new: neither seen before nor behind the window. Marks it as seen.
  bool accept(std::uint64_t counter) {
    constexpr std::uint64_t kBits = 64;
    if (counter > highest_) {
      const std::uint64_t ahead = counter - highest_;
      seen_ = ahead >= kBits ? 0 : seen_ << ahead;
      seen_ |= 1;
      highest_ = counter;
      return true;
    }
    const std::uint64_t behind = highest_ - counter;
    if (behind >= kBits || (seen_ >> behind & 1) != 0) return false;
    seen_ |= std::uint64_t{1} << behind;
    return true;
  }

  std::uint64_t highest() const { return highest_; }

 private:
  std::uint64_t highest_ = 0;  // counters begin at 1
  std::uint64_t seen_ = 1;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_REPLAY_WINDOW_H_
