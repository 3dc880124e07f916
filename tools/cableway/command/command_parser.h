// Reads a command line by what its commands say of themselves, and writes --help from the same. The only source of
// `cableway` that knows CLI11.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_

#include <cstddef>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include "tools/cableway/command/command.h"

namespace cableway::cli {

// The place in `commands` of the command that `arguments` name, whose arguments have been taken. Or the exit status of
// a command line that asks for nothing: --help or --version, whose text goes to `out`, or a mistake, which goes to
// `err` with the nearest command or option there is. `arguments` does not hold the program's name.
std::variant<std::size_t, int> parse_command_line(const Program& program, const std::vector<Command>& commands,
                                                  const std::vector<std::string>& arguments, std::ostream& out,
                                                  std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_PARSER_H_
