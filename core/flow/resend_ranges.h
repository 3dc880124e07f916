// The ranges of messages that have to be sent again, oldest first. Adjacent ranges are joined, so that ranges that
// were split for a circuit with smaller chunks and lost again need no more room than before.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_RESEND_RANGES_H_
#define CABLEWAY_CORE_FLOW_RESEND_RANGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/flow/given_chunks.h"

namespace cableway {

class ResendRanges {
 public:
  // One more than a flow's maximum of chunks in flight: a range of which part was sent leaves one more entry.
  static constexpr std::size_t kMax = 129;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // Requires that there is a range.
  const MessageRange& first() const { return ranges_[0]; }
  // Requires a range that overlaps no other. False: there is no room, and nothing was added.
  bool add(const MessageRange& range);
  // The first `bytes` bytes of the first range are being sent. If these are all of it, the range is removed.
  void take_from_first(std::uint64_t bytes);

 private:
  void remove(std::size_t place);

  std::array<MessageRange, kMax> ranges_;  // ascending
  std::size_t size_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_RESEND_RANGES_H_
