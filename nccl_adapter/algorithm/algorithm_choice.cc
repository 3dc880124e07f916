#include "nccl_adapter/algorithm/algorithm_choice.h"

#include <algorithm>
#include <iterator>

#include "nccl_adapter/algorithm/tree_sizes.h"

namespace cableway::nccl {

AllReduceChoice choose_all_reduce(TunerSetting cabling, std::uint64_t ranks, std::uint64_t nodes, std::uint64_t bytes) {
  if (cabling == TunerSetting::kOff || ranks != nodes) return AllReduceChoice::kNone;
  if (nodes < kFewestTunedNodes || nodes > kMostTunedNodes) return AllReduceChoice::kNone;
  const bool is_for_tree = std::any_of(std::begin(kTreeSizes), std::end(kTreeSizes), [&](const TreeSizes& sizes) {
    return sizes.cabling == cabling && sizes.nodes == nodes && sizes.from <= bytes && bytes < sizes.to;
  });
  return is_for_tree ? AllReduceChoice::kTree : AllReduceChoice::kRing;
}

}  // namespace cableway::nccl
