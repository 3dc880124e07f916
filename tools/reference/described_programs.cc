#include "tools/reference/described_programs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/cablewayd/daemon_options.h"
#include "tools/collperf/options.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using Strings = std::vector<std::string>;

// The words of "on|off", and of "TEXT:{ring,tree}", as CLI11 shows a check of members.
Strings choices_in(const std::string& type) {
  const std::size_t open = type.find('{');
  if (open != std::string::npos) return absl::StrSplit(type.substr(open + 1, type.find('}') - open - 1), ',');
  return type.find('|') == std::string::npos ? Strings() : Strings(absl::StrSplit(type, '|'));
}

// What a reader may give for a value, from the type and the check that CLI11 shows: "INT:INT in [8 - 12]" as "8..12",
// "UINT:SIZE [b, ..]" as "SIZE".
std::string placeholder_of(const std::string& type) {
  const std::size_t range = type.find(" in [");
  if (range != std::string::npos) {
    const std::string bounds = type.substr(range + 5, type.find(']', range) - range - 5);
    return absl::StrReplaceAll(bounds, {{" - ", ".."}});
  }
  const std::string check = type.substr(type.find(':') + 1);
  return check.substr(0, check.find(' '));
}

// Lowercase at its beginning, as the summaries of commands are.
std::string as_summary(std::string text) {
  if (text.size() > 1 && absl::ascii_islower(static_cast<unsigned char>(text[1]))) {
    text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  }
  return text;
}

// "--check,--no-check{false}" without what a flag sets.
std::string names_of(const CLI::Option& option) {
  Strings names;
  for (const std::string& name : option.get_lnames()) names.push_back(absl::StrCat("--", name));
  for (const std::string& name : option.get_snames()) names.push_back(absl::StrCat("-", name));
  for (const std::string& name : option.get_fnames()) {
    // CLI11 lists negative flags among the names, too.
    if (names.empty()) names.push_back(absl::StrCat("--", name));
  }
  return absl::StrJoin(names, ",");
}

Argument argument_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  Argument argument{.kind = option.get_items_expected_max() == 0 ? Argument::Kind::kFlag : Argument::Kind::kOption,
                    .names = names_of(option),
                    .value = placeholder_of(type),
                    .meaning = option.get_description(),
                    .take = nullptr,
                    .default_value = option.get_default_str()};
  if (argument.kind == Argument::Kind::kFlag) argument.value = argument.default_value = "";
  argument.choices = argument.kind == Argument::Kind::kFlag ? Strings() : choices_in(type);
  if (!option.get_envname().empty()) absl::StrAppend(&argument.meaning, ". Environment: ", option.get_envname());
  if (!argument.choices.empty()) argument.value = absl::StrJoin(argument.choices, "|");
  if (type == "FILE") argument.naming = Argument::Names::kFiles;
  for (const CLI::Option* other : option.get_excludes()) argument.excludes.push_back(other->get_name());
  // CLI11 keeps them in the order of their addresses.
  std::sort(argument.excludes.begin(), argument.excludes.end());
  return argument;
}

}  // namespace

cli::Argument help_flag() {
  return {.kind = Argument::Kind::kFlag,
          .names = "--help,-h",
          .value = "",
          .meaning = "print a summary of all this, and exit",
          .take = nullptr};
}

cli::Argument version_flag() {
  return {.kind = Argument::Kind::kFlag,
          .names = "--version",
          .value = "",
          .meaning = "print the version, and exit",
          .take = nullptr};
}

cli::Command described(const CLI::App& app, const std::vector<cli::ExitMeaning>& statuses) {
  cli::Command command{.name = app.get_name(), .summary = "", .examples = {}, .arguments = {}};
  command.exit_statuses = statuses;
  const std::string description = app.get_description();
  std::string footer = app.get_footer();
  footer = std::string(absl::StripAsciiWhitespace(absl::StripSuffix(footer, routing::exit_line(statuses))));
  const std::string prefix = absl::StrCat(command.name, " - ");
  const Strings lines = absl::StrSplit(absl::StripPrefix(description, prefix), '\n');
  command.summary = as_summary(std::string(absl::StripSuffix(lines[0], ".")));
  command.notes = absl::StrJoin(lines.begin() + 1, lines.end(), " ");
  if (!footer.empty()) absl::StrAppend(&command.notes, command.notes.empty() ? "" : "\n\n", footer);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    command.arguments.push_back(option == app.get_help_ptr() ? help_flag() : argument_of(*option));
  }
  return command;
}

cli::Command cablewayd_command() {
  DaemonOptions options;
  CLI::App app;
  add_options(app, options);
  return described(app, daemon_exit_statuses());
}

cli::Command collperf_command() {
  cli::Command command;
  collperf::with_command_line([&](const CLI::App& app) { command = described(app, collperf::exit_statuses()); });
  return command;
}

}  // namespace cableway::reference
