// The programs of the package as data, each from the description that its own parser and --help use.
#ifndef CABLEWAY_TOOLS_REFERENCE_DESCRIBED_PROGRAMS_H_
#define CABLEWAY_TOOLS_REFERENCE_DESCRIBED_PROGRAMS_H_

#include <string>
#include <vector>

#include "tools/cableway/command/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace cableway::reference {

// A program without commands as one command, whose arguments take nothing: for pages and completions only. `app` is its
// parser, whose footer ends with the `statuses`, if any, as exit_line() has them.
cli::Command described(const CLI::App& app, const std::vector<cli::ExitMeaning>& statuses);

cli::Command cablewayd_command();
cli::Command collperf_command();

// "--help,-h", which every program and command has, and "--version", which of programs.
cli::Argument help_flag();
cli::Argument version_flag();

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_DESCRIBED_PROGRAMS_H_
