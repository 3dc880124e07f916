#include "tools/cableway/command_line.h"

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
#include "tools/cableway/command_set.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {
namespace {

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
  CommandSet set;
  const std::variant<std::size_t, int> parsed =
      parse_command_line(cableway_program(), set.commands(), arguments, out, err);
  if (const int* exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const absl::StatusOr<Settings> settings = read_settings(set.config(), surroundings);
  if (!settings.ok()) return fail(err, settings.status(), kNotUsable);
  const Paint paint(has_colour(set.color(), surroundings.environment, surroundings.out_is_terminal));
  const std::string command = command_text(arguments);
  const absl::StatusOr<Answer> answer =
      set.verb(std::get<std::size_t>(parsed)).run({*settings, surroundings, command, out, err, paint});
  if (!answer.ok()) return fail(err, answer.status(), exit_status_of(answer.status()));
  for (const std::string& remark : answer->remarks) err << "cableway: " << remark << "\n";
  out << answer->text << std::flush;
  if (!out) return fail(err, absl::UnavailableError("cannot write to standard output"), kFailed);
  return answer->exit_status;
}

}  // namespace cableway::cli
