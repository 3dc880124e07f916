// NCCL's tuner interface, version 5.
#include "nccl_adapter/tuner/tuner_table.h"

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV5 ncclTunerPlugin_v5 =
    cableway::nccl::table_with_comm_id<cableway::nccl::abi::TunerV5>();
