// NCCL's tuner interface, version 4.
#include "nccl_adapter/tuner/tuner.h"

namespace cableway::nccl {
namespace {

constexpr abi::TunerV4 table() {
  abi::TunerV4 table{};
  table.name = tuner::kTunerName;
  table.init = tuner::init;
  table.getCollInfo = [](void* context, abi::Function function, std::size_t bytes, int, float** costs, int algorithms,
                         int protocols, int, int*) {
    return tuner::get_coll_info(context, function, bytes, costs, algorithms, protocols);
  };
  table.destroy = tuner::finalize;
  return table;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV4 ncclTunerPlugin_v4 =
    cableway::nccl::table();
