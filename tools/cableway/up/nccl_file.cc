#include "tools/cableway/up/nccl_file.h"

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

struct EnvPluginLine {
  std::size_t number = 0;  // from 1
  std::string value;
};

// As NCCL reads it: a name begins its line, and spaces at the end belong to the value.
std::optional<EnvPluginLine> find_line(std::string_view text) {
  std::size_t number = 0;
  for (absl::string_view line : absl::StrSplit(routing::absl_view(text), '\n')) {
    ++number;
    if (!absl::ConsumePrefix(&line, kEnvPluginVariable) || !absl::ConsumePrefix(&line, "=")) continue;
    absl::ConsumeSuffix(&line, "\r");
    return EnvPluginLine{number, std::string(line)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> env_plugin_in(std::string_view text) {
  const std::optional<EnvPluginLine> line = find_line(text);
  return line ? std::optional(line->value) : std::nullopt;
}

absl::StatusOr<std::optional<std::string>> with_env_plugin(const std::string& text) {
  if (const std::optional<EnvPluginLine> line = find_line(text)) {
    if (line->value == kEnvPlugin || absl::EndsWith(line->value, absl::StrCat("/", kEnvPlugin))) return std::nullopt;
    return absl::FailedPreconditionError(
        absl::StrCat(kNcclFile, ":", line->number, ": ", kEnvPluginVariable, " is ", routing::in_quotes(line->value),
                     ", and NCCL loads one env plugin only; remove that line, or leave out --nccl"));
  }
  const bool ends_line = text.empty() || absl::EndsWith(text, "\n");
  return absl::StrCat(text, ends_line ? "" : "\n", kEnvPluginVariable, "=", kEnvPlugin, "\n");
}

}  // namespace cableway::cli
