// NCCL's env plugin interface, versions 1 (from NCCL 2.28.7 on) and 2 (from 2.30.7 on): NCCL asks it for each of its
// variables, in place of getenv(3).
//
// Before that NCCL has added the variables of NCCL_CONF_FILE, ~/.nccl.conf and /etc/nccl.conf to the process's
// environment, where it had none of that name. Only NCCL_ENV_PLUGIN, NCCL_CONF_FILE and HOME are never asked for here;
// up to 2.29.7 the home folder is that of getpwuid(3). As in net_abi_types.h, the declarations describe a binary
// interface that NCCL defines.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_ENV_ABI_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_ENV_ABI_H_

#include <cstddef>
#include <cstdint>

#include "nccl_adapter/abi/net_abi_types.h"

namespace cableway::nccl::abi {

struct EnvV1 {
  const char* name;
  // Once per process, before getEnv. If it fails, every call of NCCL fails.
  Result (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix);
  // Called at exit(3).
  Result (*finalize)();
  // Null: not set. On any thread. The text stays valid until the next call for that name, or finalize.
  const char* (*getEnv)(const char* name);
};
static_assert(sizeof(EnvV1) == 32 && kIsPlainData<EnvV1>);
static_assert(offsetof(EnvV1, name) == 0 && offsetof(EnvV1, init) == 8);
static_assert(offsetof(EnvV1, finalize) == 16 && offsetof(EnvV1, getEnv) == 24);

struct EnvV2 {
  const char* name;
  Result (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix, Logger logger);
  Result (*finalize)();
  const char* (*getEnv)(const char* name);
};
static_assert(sizeof(EnvV2) == 32 && kIsPlainData<EnvV2>);
static_assert(offsetof(EnvV2, name) == 0 && offsetof(EnvV2, init) == 8);
static_assert(offsetof(EnvV2, finalize) == 16 && offsetof(EnvV2, getEnv) == 24);

}  // namespace cableway::nccl::abi

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_ENV_ABI_H_
