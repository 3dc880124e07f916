// The least number of NCCL's channels for a job over Cableway, as the preset and `cableway env` set it.
//
// For the rate of one cable NCCL opens two channels at most: too few flows for several paths. Ranks must agree on their
// channels or hang, so the number is the same on every host and does not depend on the ports there. What the user has
// set comes first.
#ifndef CABLEWAY_NCCL_ADAPTER_PRESET_LEAST_CHANNELS_H_
#define CABLEWAY_NCCL_ADAPTER_PRESET_LEAST_CHANNELS_H_

#include <algorithm>
#include <array>

namespace cableway::nccl {

inline constexpr char kLeastChannelsVariable[] = "NCCL_MIN_NCHANNELS";
inline constexpr int kLeastChannels = 4;

// Beside these it is not set: NCCL raises the number of channels to it last, above every maximum; the others are minima
// that the user has chosen.
inline constexpr std::array<const char*, 5> kChannelsOfTheUser = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS",
                                                                  "NCCL_MIN_NRINGS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"};

// The first of these variables that `is_set` names; null: none, so that the least number is set.
template <typename IsSet>
const char* find_channels_of_the_user(IsSet is_set) {
  const auto* const found = std::find_if(kChannelsOfTheUser.begin(), kChannelsOfTheUser.end(), is_set);
  return found == kChannelsOfTheUser.end() ? nullptr : *found;
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PRESET_LEAST_CHANNELS_H_
