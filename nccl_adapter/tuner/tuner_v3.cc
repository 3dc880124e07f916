// NCCL's tuner interface, version 3.
#include "nccl_adapter/tuner/tuner_table.h"

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV3 ncclTunerPlugin_v3 = {
    cableway::nccl::tuner::kTunerName, cableway::nccl::init_without_id,
    [](void* context, cableway::nccl::abi::Function function, std::size_t bytes, int, float** costs, int algorithms,
       int protocols,
       int*) { return cableway::nccl::tuner::get_coll_info(context, function, bytes, costs, algorithms, protocols); },
    cableway::nccl::tuner::finalize};
