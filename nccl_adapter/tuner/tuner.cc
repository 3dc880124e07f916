#include "nccl_adapter/tuner/tuner.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/plugin/context.h"
#include "nccl_adapter/tuner/algorithm_choice.h"

namespace cableway::nccl::tuner {
namespace {

// NCCL takes a pair only if its cost is below this.
constexpr float kNeverTaken = std::numeric_limits<float>::max();

// The setting of the process, if it has joined its node: NCCL also asks the tuner of a library whose network it does
// not use.
TunerSetting cabling_of_process() {
  const absl::StatusOr<std::shared_ptr<const Process>> process = Context::this_process();
  return process.ok() ? (*process)->settings().tuner : TunerSetting::kOff;
}

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

abi::Result init(std::size_t ranks, std::size_t nodes, abi::Logger logger, void** context) {
  if (context == nullptr) return abi::kSuccess;
  *context = nullptr;
  const TunerSetting cabling = cabling_of_process();
  if (choose_all_reduce(cabling, ranks, nodes, 0) == AllReduceChoice::kNone) return abi::kSuccess;
  *context = new (std::nothrow) Communicator{cabling, ranks, nodes};
  Log(logger).info(absl::StrCat("all_reduce of ", nodes, " nodes: ring or tree by size, as for CABLEWAY_TUNER"));
  return abi::kSuccess;
}

abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, float** costs, int algorithms,
                          int protocols) {
  if (context == nullptr) return abi::kSuccess;
  weigh(*static_cast<const Communicator*>(context), function, bytes, reinterpret_cast<float*>(costs), algorithms,
        protocols);
  return abi::kSuccess;
}

abi::Result finalize(void* context) {
  delete static_cast<Communicator*>(context);
  return abi::kSuccess;
}

}  // namespace cableway::nccl::tuner
