// Parses a command line and prints --help, both from the commands' descriptions. The only source of `cableway` that
// uses CLI11.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_

#include <cstddef>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include "tools/cableway/command/command.h"

namespace cableway::cli {

// Returns the index in `commands` of the command that `arguments` name, with its arguments stored; or the exit status
// of a command line that runs no command: --help or --version, whose text goes to `out`, or an error, which goes to
// `err` with the nearest existing command or option. `arguments` excludes the program's name.
std::variant<std::size_t, int> parse_command_line(const Program& program, const std::vector<Command>& commands,
                                                  const std::vector<std::string>& arguments, std::ostream& out,
                                                  std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_
