// NCCL's env plugin interface, version 1.
#include "nccl_adapter/preset/host_preset.h"

namespace cableway::nccl {
namespace {

constexpr abi::EnvV1 table() {
  abi::EnvV1 table{};
  table.name = env::kEnvName;
  table.init = [](std::uint8_t, std::uint8_t, std::uint8_t, const char*) { return env::init(nullptr); };
  table.finalize = env::finalize;
  table.getEnv = env::get_env;
  return table;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::EnvV1 ncclEnvPlugin_v1 =
    cableway::nccl::table();
