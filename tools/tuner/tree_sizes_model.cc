#include "tools/tuner/tree_sizes_model.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/flow/striping.h"
#include "nccl_adapter/algorithm/algorithm_choice.h"
#include "routing/shapes/topology_generator.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/binary_tree.h"

namespace cableway::tuner_model {
namespace {

using workload::Operation;

struct Cabling {
  TunerSetting setting;
  std::string_view shape;
  std::string_view constant;
};
constexpr Cabling kCablings[] = {{TunerSetting::kSparks, "sparks", "kSparks"},
                                 {TunerSetting::kRing, "ring", "kRing"},
                                 {TunerSetting::kLine, "line", "kLine"},
                                 {TunerSetting::kMesh, "mesh", "kMesh"}};
constexpr std::string_view kCables = "@200Gbit/s,5us";
constexpr int kChannels = 4;
constexpr std::uint64_t kOperations = 4;
constexpr std::uint64_t kSmallest = 64;
constexpr std::uint64_t kLargest = std::uint64_t{16} << 20;  // beyond, the ring is the choice

constexpr std::string_view kBefore =
    R"(// Made by tools/tuner/tree_sizes, which says how; a test compares. Sizes of an all_reduce in bytes, from `from` to
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
)";
constexpr std::string_view kAfter = R"(};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ALGORITHM_TREE_SIZES_H_
)";

// Messages one after the other, up to the root and down again, in the deeper of the two trees.
int messages_of_tree(int nodes) {
  int most = 0;
  for (int tree = 0; tree < 2; ++tree) {
    for (int rank = 0; rank < nodes; ++rank) {
      int depth = 0;
      for (int at = rank; (at = workload::double_binary_tree(tree, at, nodes).parent) >= 0;) ++depth;
      most = std::max(most, 2 * depth);
    }
  }
  return most;
}

int messages_of_ring(int nodes) {
  return 2 * (nodes - 1);
}

absl::StatusOr<double> seconds(const routing::Topology& topology, Operation operation, std::uint64_t bytes) {
  sim::PredictionRequest request;
  request.workload.operation = operation;
  request.size = bytes;
  request.channels = kChannels;
  request.collective.operations = kOperations;
  request.circuits.shares = CircuitShare::kAlternate;
  request.circuits.chunk_bytes = static_cast<std::uint32_t>(Striping{}.chunk_bytes);  // of flows with alternates
  request.settled = true;
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    request.ranks.push_back(routing::NodeIndex{node});
  }
  const absl::StatusOr<sim::Prediction> prediction = sim::predict(topology, request);
  if (!prediction.ok()) return prediction.status();
  return prediction->time_s;
}

absl::StatusOr<bool> is_better_by_tree(const routing::Topology& topology, std::uint64_t bytes) {
  const absl::StatusOr<double> ring = seconds(topology, Operation::kAllReduceRing, bytes);
  if (!ring.ok()) return ring.status();
  const absl::StatusOr<double> tree = seconds(topology, Operation::kAllReduceTree, bytes);
  if (!tree.ok()) return tree.status();
  const int nodes = static_cast<int>(topology.node_count());
  const bool has_fewer_messages = messages_of_tree(nodes) < messages_of_ring(nodes);
  return *tree < *ring * (has_fewer_messages ? 1 + kDoubt : 1 - kDoubt);
}

// A predicted size stands for those up to half-way to its neighbours, which are half and twice as large.
absl::Status add_sizes(const Cabling& cabling, std::uint64_t nodes, std::vector<nccl::TreeSizes>& sizes) {
  const absl::StatusOr<routing::Topology> topology =
      routing::generate_topology(absl::StrCat(std::string(cabling.shape), ":", nodes, std::string(kCables)));
  if (!topology.ok()) return topology.status();
  bool is_open = false;
  for (std::uint64_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
    const absl::StatusOr<bool> is_tree = is_better_by_tree(*topology, bytes);
    if (!is_tree.ok()) return is_tree.status();
    if (*is_tree && !is_open) {
      sizes.push_back({cabling.setting, nodes, bytes == kSmallest ? 0 : bytes / 4 * 3, 0});
    }
    is_open = *is_tree;
    if (is_open) sizes.back().to = bytes / 2 * 3;
  }
  return absl::OkStatus();
}

std::string constant_of(TunerSetting setting) {
  const auto* const found = std::find_if(std::begin(kCablings), std::end(kCablings),
                                         [&](const Cabling& each) { return each.setting == setting; });
  return std::string(found->constant);
}

}  // namespace

absl::StatusOr<std::vector<nccl::TreeSizes>> predicted_tree_sizes() {
  std::vector<nccl::TreeSizes> sizes;
  for (const Cabling& cabling : kCablings) {
    for (std::uint64_t nodes = nccl::kFewestTunedNodes; nodes <= nccl::kMostTunedNodes; ++nodes) {
      if (absl::Status added = add_sizes(cabling, nodes, sizes); !added.ok()) return added;
    }
  }
  return sizes;
}

std::string header_text(const std::vector<nccl::TreeSizes>& sizes) {
  std::string text(kBefore);
  for (const nccl::TreeSizes& each : sizes) {
    absl::StrAppend(&text, "    {TunerSetting::", constant_of(each.cabling), ", ", each.nodes, ", ", each.from, ", ",
                    each.to, "},\n");
  }
  return text + std::string(kAfter);
}

}  // namespace cableway::tuner_model
