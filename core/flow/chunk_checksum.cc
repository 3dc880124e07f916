#include "core/flow/chunk_checksum.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "core/flow/crc32c.h"

namespace cableway {

void ChunkChecksum::add(std::span<const std::byte> part) {
  crc_ = crc32c(part, crc_);
}

std::uint32_t ChunkChecksum::value() const {
  return crc_ == 0 ? std::numeric_limits<std::uint32_t>::max() : crc_;
}

Frame with_checksum(const Frame& chunk, const std::byte* payload) {
  if (chunk.checksum != 0 || chunk.payload == 0) return chunk;
  ChunkChecksum sum;
  sum.add({payload, chunk.payload});
  Frame summed = chunk;
  summed.checksum = sum.value();
  return summed;
}

absl::Status check_checksum(const Frame& chunk, const ChunkChecksum& found) {
  if (chunk.checksum == 0 || chunk.checksum == found.value()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "chunk corrupted: the ", chunk.payload, " bytes at ", chunk.offset, " of message ", chunk.message,
      " have CRC32C ", absl::Hex(found.value(), absl::kZeroPad8), " instead of ",
      absl::Hex(chunk.checksum, absl::kZeroPad8), "; that cable, or one before it on the path, changes data"));
}

absl::Status check_checksum(const Frame& chunk, const std::byte* payload) {
  if (chunk.checksum == 0) return absl::OkStatus();
  ChunkChecksum found;
  found.add({payload, chunk.payload});
  return check_checksum(chunk, found);
}

bool found_corruption(const absl::Status& status) {
  return absl::IsDataLoss(status);
}

}  // namespace cableway
