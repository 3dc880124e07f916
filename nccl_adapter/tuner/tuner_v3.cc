// NCCL's tuner interface, version 3.
#include "nccl_adapter/tuner/tuner.h"

namespace cableway::nccl {
namespace {

constexpr abi::TunerV3 table() {
  abi::TunerV3 table{};
  table.name = tuner::kTunerName;
  table.init = tuner::init;
  table.getCollInfo = [](void* context, abi::Function function, std::size_t bytes, int, float** costs, int algorithms,
                         int protocols, int*) {
    return tuner::get_coll_info(context, function, bytes, costs, algorithms, protocols);
  };
  table.destroy = tuner::finalize;
  return table;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV3 ncclTunerPlugin_v3 =
    cableway::nccl::table();
