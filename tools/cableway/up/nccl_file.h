// The line of NCCL's settings file that gives every job on the host Cableway's preset (docs/decisions/0032).
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_NCCL_FILE_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_NCCL_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::cli {

inline constexpr char kNcclFile[] = "/etc/nccl.conf";
inline constexpr char kEnvPluginVariable[] = "NCCL_ENV_PLUGIN";
inline constexpr char kEnvPlugin[] = "libnccl-net-cableway.so";

// What the first line that sets NCCL_ENV_PLUGIN sets it to, which is the one that NCCL takes; nullopt: none does.
std::optional<std::string> env_plugin_in(std::string_view text);

// The text with the line "NCCL_ENV_PLUGIN=libnccl-net-cableway.so" at its end; all other lines stay. nullopt: it is set
// to that library already, by name or by path. FailedPrecondition: it is set to something else; names file and line.
absl::StatusOr<std::optional<std::string>> with_env_plugin(const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_NCCL_FILE_H_
