#include "tools/collperf/launch/remote_command.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/shell_text.h"

namespace cableway::collperf {
namespace {

constexpr char kConnectSeconds[] = "10";
constexpr std::size_t kMaxCommandBytes = 100'000;  // Linux: 128 KiB an argument

bool is_forwarded(std::string_view entry) {
  if (!entry.starts_with("NCCL_") && !entry.starts_with("CABLEWAY_")) return false;
  const std::string_view name = entry.substr(0, entry.find('='));
  return name.size() < entry.size() && std::ranges::all_of(name, [](char c) {
           return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
         });
}

}  // namespace

std::vector<std::string> forwarded_environment(const char* const* environment) {
  std::vector<std::string> forwarded;
  for (; *environment != nullptr; ++environment) {
    if (is_forwarded(*environment)) forwarded.emplace_back(*environment);
  }
  return forwarded;
}

absl::StatusOr<std::vector<std::string>> remote_command(const RemoteProgram& program) {
  std::string text = absl::StrCat("cd ", routing::shell_quoted(program.directory), " && exec env");
  for (const std::string& entry : program.environment) absl::StrAppend(&text, " ", routing::shell_quoted(entry));
  for (const std::string& word : program.command) absl::StrAppend(&text, " ", routing::shell_quoted(word));
  if (text.size() > kMaxCommandBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the command for host ", program.host, " has ", text.size(),
                                                   " bytes; expected at most ", kMaxCommandBytes,
                                                   ": shorten the options, or the NCCL_ and CABLEWAY_ variables"));
  }
  std::vector<std::string> command = program.ssh;
  for (const char* word : {"-o", "BatchMode=yes", "-o"}) command.emplace_back(word);
  command.push_back(absl::StrCat("ConnectTimeout=", kConnectSeconds));
  command.push_back(program.host);
  command.push_back(std::move(text));
  return command;
}

}  // namespace cableway::collperf
