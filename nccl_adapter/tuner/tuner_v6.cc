// NCCL's tuner interface, version 6. Its getChunkSize is null: chunks stay NCCL's.
#include "nccl_adapter/tuner/tuner_table.h"

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::TunerV6 ncclTunerPlugin_v6 =
    cableway::nccl::table_with_comm_id<cableway::nccl::abi::TunerV6>();
