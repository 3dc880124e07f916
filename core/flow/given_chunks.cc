#include "core/flow/given_chunks.h"

#include <algorithm>

namespace cableway {

bool GivenChunks::landed(std::uint64_t count) {
  if (count > end_) return false;
  first_ = std::max(first_, count);
  return true;
}

void GivenChunks::landed_below(std::uint64_t message) {
  // Chunks that were sent again follow those of later messages, so this may leave some; they are found at their turn.
  while (first_ != end_ && chunks_[first_ % kMax].message < message) ++first_;
}

}  // namespace cableway
