#include "tools/cableway/command_line.h"

#include <memory>
#include <ostream>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/settings_reader.h"
#include "core/settings/settings.h"
#include "routing/text/shell_text.h"
#include "tools/cableway/command/command_parser.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/verb_table.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {
namespace {

constexpr char kDescription[] =
    "cableway - shows the state of this host's Cableway node, plans jobs, sets up hosts, and diagnoses problems.\n"
    "It queries the node that runs in this network namespace; commands about a topology also accept a file or a shape.";

constexpr char kNotes[] =
    "cableway COMMAND --help has the options and examples of a command.\n\n"
    "Settings, as for cablewayd: CABLEWAY_CLUSTER and CABLEWAY_RUNTIME_DIR select the node in this network "
    "namespace\n(default: cableway, default), CABLEWAY_NODE the node of a topology file (default: the host's name).\n\n"
    "Exit status: 0 success; 1 failure; 2 invalid arguments or settings; 3 no node runs here;\n"
    "4 the node here did not answer within 5 s. Of doctor: 1 warnings, 2 errors; of sim: 5 the job ended;\n"
    "of drain: 6 two nodes would have no path left.";

Program program() {
  return {.name = "cableway",
          .version = CABLEWAY_VERSION,
          .description = kDescription,
          .notes = kNotes,
          .examples = {"cableway doctor", "cableway topology --svg > topology.svg", "cableway path n0 n2",
                       "eval \"$(cableway env)\"", "cableway status --json | jq .relayed.bytes"},
          .groups = verb_groups()};
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "cableway";
  for (const std::string& argument : arguments) absl::StrAppend(&text, " ", routing::shell_quoted(argument));
  return text;
}

absl::StatusOr<Settings> read_settings(const std::string& config, const Surroundings& surroundings) {
  host::SettingsPlaces places{
      .environment = surroundings.environment, .host_name = surroundings.host_name, .options = {}};
  if (!config.empty()) places.options.push_back({.key = "config", .value = config, .origin = "--config"});
  return host::read_settings(places);
}

int fail(std::ostream& err, const absl::Status& status, int exit_status) {
  err << "cableway: " << std::string(status.message()) << "\n";
  return exit_status;
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err) {
  const std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  std::string config;
  std::vector<Command> commands;
  for (const std::unique_ptr<Verb>& verb : verbs) {
    commands.push_back(verb->describe());
    commands.back().arguments.push_back(text_option("--config", "FILE", config, "settings file (CABLEWAY_CONFIG)"));
  }
  const std::variant<std::size_t, int> parsed = parse_command_line(program(), commands, arguments, out, err);
  if (const int* exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const absl::StatusOr<Settings> settings = read_settings(config, surroundings);
  if (!settings.ok()) return fail(err, settings.status(), kNotUsable);
  const absl::StatusOr<Answer> answer =
      verbs[std::get<std::size_t>(parsed)]->run({*settings, surroundings, command_text(arguments), out, err});
  if (!answer.ok()) return fail(err, answer.status(), exit_status_of(answer.status()));
  for (const std::string& remark : answer->remarks) err << "cableway: " << remark << "\n";
  out << answer->text << std::flush;
  if (!out) return fail(err, absl::UnavailableError("cannot write to standard output"), kFailed);
  return answer->exit_status;
}

}  // namespace cableway::cli
