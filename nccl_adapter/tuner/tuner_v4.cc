// NCCL's tuner interface, version 4.
#include "nccl_adapter/tuner/tuner_table.h"

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV4 ncclTunerPlugin_v4 = {
    cableway::nccl::tuner::kTunerName, cableway::nccl::init_without_id, cableway::nccl::get_coll_info_registered,
    cableway::nccl::tuner::finalize};
