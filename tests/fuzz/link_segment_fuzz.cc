// Feeds bytes to the decoder of segments between neighbours.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/flooding/link_segment.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const absl::StatusOr<LinkSegment> decoded = decode_link_segment(bytes);
  if (!decoded.ok()) {
    require(!decoded.status().message().empty(), "an error without a reason");
    return 0;
  }
  for (const LinkMessage& message : decoded->messages) {
    require(message.bytes.size() <= kMaxLinkMessageBytes, "a message without a bound");
  }
  const absl::StatusOr<LinkSegment> again = decode_link_segment(encode_link_segment(*decoded));
  require(again.ok() && *again == *decoded, "a segment does not survive a round trip");
  return 0;
}
