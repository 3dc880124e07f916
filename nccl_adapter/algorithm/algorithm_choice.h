// Which algorithm an all_reduce takes: a pure function of numbers that all ranks of a communicator have in common, so
// that all choose alike, whatever each knows of the cables at that moment.
//
// The sizes come from the simulator (tree_sizes.h). It knows cables and relays, not GPUs, so the choice is between ring
// and tree only; the protocol stays NCCL's.
#ifndef CABLEWAY_NCCL_ADAPTER_ALGORITHM_ALGORITHM_CHOICE_H_
#define CABLEWAY_NCCL_ADAPTER_ALGORITHM_ALGORITHM_CHOICE_H_

#include <cstdint>

#include "core/settings/settings.h"

namespace cableway::nccl {

// kNone: leave it to NCCL.
enum class AllReduceChoice : std::uint8_t { kNone, kRing, kTree };

// The numbers of nodes for which there are sizes.
inline constexpr std::uint64_t kFewestTunedNodes = 3;
inline constexpr std::uint64_t kMostTunedNodes = 8;

// `cabling`: of the nodes, whose ranks are in the order of the cables. With several ranks on a node NCCL's own model,
// which knows their links, is the better one: kNone.
AllReduceChoice choose_all_reduce(TunerSetting cabling, std::uint64_t ranks, std::uint64_t nodes, std::uint64_t bytes);

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ALGORITHM_ALGORITHM_CHOICE_H_
