// NCCL's tuner interface, version 6. getChunkSize is left out: chunks stay NCCL's.
#include "nccl_adapter/tuner/tuner.h"

namespace cableway::nccl {
namespace {

constexpr abi::TunerV6 table() {
  abi::TunerV6 table{};
  table.name = tuner::kTunerName;
  table.init = [](void** context, std::uint64_t, std::size_t ranks, std::size_t nodes, abi::Logger logger,
                  abi::NvlinkDomains*, abi::TunerConstants*) { return tuner::init(ranks, nodes, logger, context); };
  table.getCollInfo = [](void* context, abi::Function function, std::size_t bytes, int, float** costs, int algorithms,
                         int protocols, int, int*) {
    return tuner::get_coll_info(context, function, bytes, costs, algorithms, protocols);
  };
  table.finalize = tuner::finalize;
  return table;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV6 ncclTunerPlugin_v6 =
    cableway::nccl::table();
