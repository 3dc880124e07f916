// Made by tools/tuner/tree_sizes, which says how; a test compares. Sizes of an all_reduce in bytes, from `from` to
// below `to`, at which a tree is the choice; the ring is at all others.
#ifndef CABLEWAY_NCCL_ADAPTER_ALGORITHM_TREE_SIZES_H_
#define CABLEWAY_NCCL_ADAPTER_ALGORITHM_TREE_SIZES_H_

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
    {TunerSetting::kSparks, 4, 0, 1536},       {TunerSetting::kSparks, 5, 0, 1536},
    {TunerSetting::kSparks, 6, 0, 1536},       {TunerSetting::kSparks, 7, 0, 1536},
    {TunerSetting::kSparks, 8, 0, 1536},       {TunerSetting::kRing, 3, 1572864, 3145728},
    {TunerSetting::kRing, 4, 0, 6144},         {TunerSetting::kRing, 4, 786432, 25165824},
    {TunerSetting::kRing, 5, 0, 6144},         {TunerSetting::kRing, 6, 0, 6144},
    {TunerSetting::kRing, 7, 0, 6144},         {TunerSetting::kRing, 8, 0, 6144},
    {TunerSetting::kLine, 4, 0, 1572864},      {TunerSetting::kLine, 5, 0, 12288},
    {TunerSetting::kLine, 5, 393216, 1572864}, {TunerSetting::kLine, 6, 0, 3145728},
    {TunerSetting::kLine, 7, 0, 24576},        {TunerSetting::kLine, 7, 393216, 3145728},
    {TunerSetting::kLine, 8, 0, 12582912},     {TunerSetting::kMesh, 3, 1572864, 3145728},
    {TunerSetting::kMesh, 4, 0, 6291456},      {TunerSetting::kMesh, 5, 0, 6291456},
    {TunerSetting::kMesh, 6, 0, 6291456},      {TunerSetting::kMesh, 7, 0, 6291456},
    {TunerSetting::kMesh, 8, 0, 12582912},
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ALGORITHM_TREE_SIZES_H_
