// The `cableway` command, from arguments to exit status.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/cableway/verbs/surroundings.h"

namespace cableway::cli {

// Runs one command and returns its exit status (command/exit_status.h). `arguments` does not hold the program's name.
// What was asked for goes to `out`, everything else to `err`.
int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
