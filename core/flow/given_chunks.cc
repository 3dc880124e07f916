#include "core/flow/given_chunks.h"

namespace cableway {

bool GivenChunks::landed(std::uint64_t count) {
  if (count > end_) return false;
  while (first_ < count) forget_first();
  return true;
}

void GivenChunks::landed_below(std::uint64_t message) {
  // Chunks that were sent again follow those of later messages, so this may leave some; a later call finds them.
  while (first_ != end_ && chunks_[first_ % kMax].message < message) forget_first();
}

}  // namespace cableway
