#include "tools/reference/reference_files.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/command_set.h"
#include "tools/reference/completion.h"
#include "tools/reference/described_programs.h"

namespace cableway::reference {
namespace {

using Files = std::vector<ReferenceFile>;

absl::Status append(Files& files, absl::StatusOr<Files> more) {
  if (!more.ok()) return more.status();
  files.insert(files.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
  return absl::OkStatus();
}

// A program without commands.
CompletedProgram completed(cli::Command command) {
  std::string name = std::exchange(command.name, "");
  return {.name = std::move(name), .commands = {std::move(command)}};
}

CompletedProgram completed(const cli::Program& program, const std::vector<cli::Command>& commands) {
  CompletedProgram all{.name = program.name, .commands = commands, .groups = program.groups};
  for (cli::Command& command : all.commands) command.arguments.push_back(help_flag());
  all.options = {help_flag(), version_flag()};
  return all;
}

// Where each shell looks for the completion of a program.
void append_completions(Files& files, const CompletedProgram& program) {
  files.push_back({absl::StrCat("bash-completion/completions/", program.name), bash_completion(program)});
  files.push_back({absl::StrCat("zsh/site-functions/_", program.name), zsh_completion(program)});
  files.push_back({absl::StrCat("fish/vendor_completions.d/", program.name, ".fish"), fish_completion(program)});
}

}  // namespace

absl::StatusOr<Files> reference_files(const Documents& documents) {
  const cli::Program program = cli::cableway_program();
  const cli::CommandSet set;
  Files files;
  absl::Status status = append(files, pages_of_commands(program, set.commands(), documents));
  if (status.ok()) status = append(files, pages_of_programs(program.version, documents));
  if (status.ok()) status = append(files, pages_of_topics(program.version, documents));
  if (!status.ok()) return status;
  append_completions(files, completed(program, set.commands()));
  append_completions(files, completed(cablewayd_command()));
  append_completions(files, completed(collperf_command()));
  return files;
}

}  // namespace cableway::reference
