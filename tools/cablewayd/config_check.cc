#include "tools/cablewayd/config_check.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/linux/files/key_reader.h"
#include "core/linux/files/token_reader.h"
#include "core/linux/session/session_group.h"
#include "core/linux/session/session_names.h"
#include "routing/text/node_name.h"
#include "tools/cablewayd/log_file.h"

namespace cableway {
namespace {

using routing::in_quotes;

void warn_of_ports(const Settings& settings, const std::vector<PortFacts>& ports, std::vector<std::string>& warnings) {
  for (const PortSelector& selector : settings.ports) {
    const auto is_meant = [&](const PortFacts& port) {
      if (!selector.interface.empty()) return port.interface == selector.interface;
      return std::any_of(port.addresses.begin(), port.addresses.end(),
                         [&](const PortPrefix& each) { return contains(selector.prefix, each.address); });
    };
    if (std::any_of(ports.begin(), ports.end(), is_meant)) continue;
    std::string here;
    for (const PortFacts& port : ports) absl::StrAppend(&here, here.empty() ? "" : ", ", port.interface);
    warnings.push_back(absl::StrCat("ports: ", in_quotes(to_text(selector)),
                                    " matches no interface of this host; available: ", here.empty() ? "none" : here));
  }
}

// Checks the log file or the nearest existing folder: missing folders will be created.
void warn_of_log_file(const std::string& file, std::vector<std::string>& warnings) {
  if (file.empty()) return;
  constexpr char kEffect[] = "; the node would log to standard error";
  if (const absl::Status fits = check_log_file(file); !fits.ok()) {
    warnings.push_back(absl::StrCat("log_file: ", fits.message(), kEffect));
    return;
  }
  std::filesystem::path there = file;
  while (!there.empty() && ::access(there.c_str(), F_OK) != 0 && errno == ENOENT) there = there.parent_path();
  const std::string wanted = there.empty() ? "." : there.string();
  if (::access(wanted.c_str(), W_OK) == 0) return;
  warnings.push_back(
      absl::StrCat("log_file: ", in_quotes(wanted), " cannot be written: ", std::strerror(errno), kEffect));
}

void warn_of_daemon(const std::string& daemon, std::vector<std::string>& warnings) {
  if (daemon.empty() || ::access(daemon.c_str(), X_OK) == 0) return;
  warnings.push_back(absl::StrCat("daemon: ", in_quotes(daemon), " cannot be executed: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> check_config(const Settings& settings, const std::optional<std::vector<PortFacts>>& ports,
                                         ViewFormat format) {
  if (absl::Status status = host::check_session_names(settings); !status.ok()) return status;
  if (absl::Status status = host::find_session_group(settings.session_group).status(); !status.ok()) return status;
  if (!settings.key_file.empty()) {
    if (absl::Status status = host::read_keys(settings.key_file).status(); !status.ok()) return status;
  }
  if (!settings.http_token_file.empty()) {
    if (absl::Status status = host::read_token(settings.http_token_file).status(); !status.ok()) return status;
  }
  std::vector<std::string> warnings;
  if (ports) warn_of_ports(settings, *ports, warnings);
  warn_of_log_file(settings.log_file, warnings);
  warn_of_daemon(settings.daemon, warnings);
  return describe_settings(settings, warnings, format);
}

}  // namespace cableway
