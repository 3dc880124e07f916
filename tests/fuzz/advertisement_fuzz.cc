// Feeds bytes to the decoder of advertisements, which distant nodes can send.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/flooding/advertisement_codec.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const absl::StatusOr<FloodedAdvertisement> decoded = decode_advertisement(bytes, "lab");
  if (!decoded.ok()) {
    require(!decoded.status().message().empty(), "an error without a reason");
    return 0;
  }
  const std::vector<std::byte> encoded = encode_advertisement(*decoded);
  require(encoded.size() <= kMaxAdvertisementBytes, "an advertisement without a bound");
  const absl::StatusOr<FloodedAdvertisement> again = decode_advertisement(encoded, "lab");
  require(again.ok() && *again == *decoded, "an advertisement does not survive a round trip");
  return 0;
}
