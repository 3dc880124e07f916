// The preset of this host, and the env plugin's functions, independent of the interface's version.
//
// None of them fails or throws: NCCL would refuse every call. Where something cannot be found out, NCCL has its
// environment alone; where the settings cannot be read, it loads the plugin, too, which reports that.
#ifndef CABLEWAY_NCCL_ADAPTER_PRESET_HOST_PRESET_H_
#define CABLEWAY_NCCL_ADAPTER_PRESET_HOST_PRESET_H_

#include "nccl_adapter/abi/env_abi.h"

namespace cableway::nccl::env {

inline constexpr char kEnvName[] = "Cableway";

// Decides the values, once per process; milliseconds. Logs what they are, or why there are none.
abi::Result init(abi::Logger logger);
abi::Result finalize();
const char* get_env(const char* name);

}  // namespace cableway::nccl::env

#endif  // CABLEWAY_NCCL_ADAPTER_PRESET_HOST_PRESET_H_
