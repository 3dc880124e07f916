#include "tools/cablewayd/daemon_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/settings/settings_table.h"

namespace cableway {
namespace {

// The values of a setting in --help: "FILE", "1..65535", "on|off".
std::string placeholder(const Setting& setting) {
  if (!setting.choices.empty()) {
    return absl::StrJoin(std::vector<std::string>(setting.choices.begin(), setting.choices.end()), "|");
  }
  if (setting.form == Setting::Form::kFile) return "FILE";
  if (setting.form == Setting::Form::kNumber) return absl::StrCat(setting.lowest, "..", setting.highest);
  return "TEXT";
}

void add_settings(CLI::App& app, std::vector<GivenSetting>& given) {
  for (const Setting& setting : all_settings()) {
    const std::string option = option_of(setting);
    const auto take = [&given, option, key = std::string(setting.key)](const std::string& value) {
      given.push_back({.key = key, .value = value, .origin = option});
    };
    const std::string help = absl::StrCat(std::string(setting.meaning), " (", variable_of(setting), ")");
    app.add_option_function<std::string>(option, take, help)->type_name(placeholder(setting))->group("Settings");
  }
}

}  // namespace

std::vector<routing::ExitMeaning> daemon_exit_statuses() {
  return {{0, "ended by a signal, or idle"},
          {1, "the node could not start, or a setting or the key is invalid"},
          {2, "invalid arguments"}};
}

void add_options(CLI::App& app, DaemonOptions& options) {
  app.name("cablewayd");
  app.description(
      "cablewayd - the Cableway node of this host: computes routes, serves the host's jobs, relays for other nodes.\n"
      "Settings are read from options, else the environment (CABLEWAY_NODE, ..), else the settings file.");
  app.footer(absl::StrCat("SIGINT and SIGTERM end it; SIGHUP opens the log again and reads the settings again.\n\n",
                          routing::exit_line(daemon_exit_statuses())));
  add_settings(app, options.given);
  app.add_flag("--check-config", options.check_config,
               "check settings and key, print the effective settings, then exit");
  app.add_flag("--sample-config", options.sample_config,
               "print a settings file with every setting, its meaning and its default in comments, then exit");
  app.add_flag("--json", options.json, "with --check-config: as JSON");
  app.add_flag("--session", options.session, "run in the background while a job needs a node; used by the plugin");
  app.add_option("--ready-fd", options.ready_fd, "file descriptor on which to report \"ready\" or the error")
      ->type_name("FD")
      ->default_str("");
  app.set_version_flag("--version", "cablewayd " CABLEWAY_VERSION, "print the version, and exit");
}

}  // namespace cableway
