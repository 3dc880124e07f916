// NCCL's env plugin interface, version 2.
#include "nccl_adapter/preset/host_preset.h"

namespace cableway::nccl {
namespace {

constexpr abi::EnvV2 table() {
  abi::EnvV2 table{};
  table.name = env::kEnvName;
  table.init = [](std::uint8_t, std::uint8_t, std::uint8_t, const char*, abi::Logger logger) {
    return env::init(logger);
  };
  table.finalize = env::finalize;
  table.getEnv = env::get_env;
  return table;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::EnvV2 ncclEnvPlugin_v2 =
    cableway::nccl::table();
