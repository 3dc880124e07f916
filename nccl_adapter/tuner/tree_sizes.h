// Made by tools/tuner/tree_sizes, which says how; a test compares. Sizes of an all_reduce in bytes, from `from` to
// below `to`, at which a tree is the choice; the ring is at all others.
#ifndef CABLEWAY_NCCL_ADAPTER_TUNER_TREE_SIZES_H_
#define CABLEWAY_NCCL_ADAPTER_TUNER_TREE_SIZES_H_

#include <cstdint>

#include "core/settings/settings.h"

namespace cableway::nccl {

struct TreeSizes {
  TunerSetting cabling;
  std::uint64_t nodes;
  std::uint64_t from;
  std::uint64_t to;
};

inline constexpr TreeSizes kTreeSizes[] = {
    {TunerSetting::kRing, 4, 0, 6144},
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_TUNER_TREE_SIZES_H_
