#include "nccl_adapter/tuner/tuner.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/algorithm/algorithm_choice.h"
#include "nccl_adapter/algorithm/tuner_cabling.h"
#include "nccl_adapter/plugin/context.h"
#include "nccl_adapter/process/fork_guard.h"

namespace cableway::nccl::tuner {
namespace {

// NCCL takes a pair only if its cost is below this.
constexpr float kNeverTaken = std::numeric_limits<float>::max();

// kOff unless this process has joined its node, and the communicator is known to use its network: NCCL also asks the
// tuner of a library whose network it does not use. An exception leaves the choice to NCCL; no call may fail.
TunerSetting cabling_of(std::optional<std::uint64_t> id) {
  try {
    if (in_forked_child() || (id && !Context::serves(*id))) return TunerSetting::kOff;
    const absl::StatusOr<std::shared_ptr<const Process>> process = Context::this_process();
    if (!process.ok()) return TunerSetting::kOff;
    return tuner_cabling((*process)->settings(), id.has_value(), ::getenv("NCCL_NET"));
  } catch (const std::exception&) {
    return TunerSetting::kOff;
  }
}

void log_tuned(abi::Logger logger, std::size_t nodes) {
  try {
    Log(logger).info(absl::StrCat("all_reduce of ", nodes, " nodes: ring or tree by size, as for CABLEWAY_TUNER"));
  } catch (const std::exception&) {
    return;
  }
}

// Every communicator that can be tuned: it has one rank on each node. By cabling, then by nodes.
constexpr auto kTunedCommunicators = [] {
  std::array<std::array<Communicator, kMostTunedNodes + 1>, kTunerSettings> all{};
  for (std::size_t cabling = 0; cabling < kTunerSettings; ++cabling) {
    for (std::uint64_t nodes = 0; nodes <= kMostTunedNodes; ++nodes) {
      all[cabling][nodes] = {static_cast<TunerSetting>(cabling), nodes, nodes};
    }
  }
  return all;
}();

}  // namespace

void weigh(const Communicator& communicator, abi::Function function, std::uint64_t bytes, float* costs, int algorithms,
           int protocols) {
  if (function != abi::kFunctionAllReduce || costs == nullptr) return;
  if (algorithms <= abi::kAlgorithmRing || protocols <= 0) return;
  const AllReduceChoice choice = choose_all_reduce(communicator.cabling, communicator.ranks, communicator.nodes, bytes);
  if (choice == AllReduceChoice::kNone) return;
  const bool is_tree = choice == AllReduceChoice::kTree;
  const auto row = [&](abi::Algorithm algorithm) { return costs + static_cast<std::ptrdiff_t>(algorithm) * protocols; };
  const float* const chosen = row(is_tree ? abi::kAlgorithmTree : abi::kAlgorithmRing);
  float* const other = row(is_tree ? abi::kAlgorithmRing : abi::kAlgorithmTree);
  const auto is_available = [](float cost) { return cost >= 0; };
  if (std::none_of(chosen, chosen + protocols, is_available)) return;
  std::replace_if(other, other + protocols, is_available, kNeverTaken);
}

abi::Result init(std::optional<std::uint64_t> id, std::size_t ranks, std::size_t nodes, abi::Logger logger,
                 void** context) {
  if (context == nullptr) return abi::kSuccess;
  *context = nullptr;
  const TunerSetting cabling = cabling_of(id);
  if (choose_all_reduce(cabling, ranks, nodes, 0) == AllReduceChoice::kNone) return abi::kSuccess;
  const Communicator& tuned = kTunedCommunicators.at(static_cast<std::size_t>(cabling)).at(nodes);
  *context = const_cast<Communicator*>(&tuned);  // NCCL's type; nothing writes to it
  log_tuned(logger, nodes);
  return abi::kSuccess;
}

abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, float** costs, int algorithms,
                          int protocols) {
  if (context == nullptr) return abi::kSuccess;
  weigh(*static_cast<const Communicator*>(context), function, bytes, reinterpret_cast<float*>(costs), algorithms,
        protocols);
  return abi::kSuccess;
}

abi::Result finalize(void* /*context*/) {
  return abi::kSuccess;
}

}  // namespace cableway::nccl::tuner
