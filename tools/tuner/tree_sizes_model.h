// The sizes of an all_reduce at which a tree is the choice, from the simulator (sim/prediction): ring and tree are
// predicted for every size, on cables of 200 Gbit/s that a message takes 5 us to cross, with four channels and all
// paths, as the preset has jobs, and with flows on the paths on which they settle in a long job
// (sim/prediction/settled_numbers.h).
//
// The ring is the choice unless the tree is better by more than kDoubt. Where the tree's slowest chain has fewer
// messages than the ring's, it only must not be worse by more than that: the simulator does not know what a GPU and its
// host do for each message.
#ifndef CABLEWAY_TOOLS_TUNER_TREE_SIZES_MODEL_H_
#define CABLEWAY_TOOLS_TUNER_TREE_SIZES_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nccl_adapter/algorithm/tree_sizes.h"

namespace cableway::tuner_model {

inline constexpr double kDoubt = 0.03;

// Of each cabling with 3 to 8 nodes, in the order of cablings and nodes.
absl::StatusOr<std::vector<nccl::TreeSizes>> predicted_tree_sizes();

// The whole of nccl_adapter/algorithm/tree_sizes.h.
std::string header_text(const std::vector<nccl::TreeSizes>& sizes);

}  // namespace cableway::tuner_model

#endif  // CABLEWAY_TOOLS_TUNER_TREE_SIZES_MODEL_H_
