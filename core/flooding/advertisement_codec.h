// The wire form of an advertisement, and the message that floods it.
#ifndef CABLEWAY_CORE_FLOODING_ADVERTISEMENT_CODEC_H_
#define CABLEWAY_CORE_FLOODING_ADVERTISEMENT_CODEC_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/link_state/advertisement.h"

namespace cableway {

// The largest encoded advertisement, with the maximum of ports and adjacencies, rounded up.
inline constexpr std::size_t kMaxAdvertisementBytes = 26624;

struct FloodedAdvertisement {
  std::chrono::milliseconds age{0};  // since its origin sent it
  routing::Advertisement advertisement;
  friend bool operator==(const FloodedAdvertisement&, const FloodedAdvertisement&) = default;
};

std::vector<std::byte> encode_advertisement(const FloodedAdvertisement& flooded);
// InvalidArgument names the invalid field. The origin must be the hash of the cluster and the name.
absl::StatusOr<FloodedAdvertisement> decode_advertisement(std::span<const std::byte> bytes, const std::string& cluster);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_ADVERTISEMENT_CODEC_H_
