// The `cableway` command, from arguments to exit status.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/cableway/verbs/surroundings.h"

namespace cableway::cli {

// Runs one command and returns its exit status (command/exit_status.h). `arguments` excludes the program's name. Writes
// the result to `out`, everything else to `err`.
int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
