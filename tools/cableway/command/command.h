// A program and its commands, as data: the contents of --help and of manual pages, and the arguments they accept.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_

#include <string>
#include <vector>

#include "routing/text/exit_meaning.h"
#include "tools/cableway/command/argument.h"

namespace cableway::cli {

using routing::ExitMeaning;

struct Command {
  std::string name;  // one word, or two separated by a space: the first then names a group
  std::string summary;
  std::string notes = {};  // shown in --help below the options; paragraphs separated by empty lines
  std::vector<ExitMeaning> exit_statuses = {};  // those that the program's do not have, or mean otherwise
  std::vector<std::string> examples;
  std::vector<Argument> arguments;
};

// The commands whose names begin with the same word.
struct CommandGroup {
  std::string name;
  std::string summary;
};

struct Program {
  std::string name;
  std::string version;
  std::string description;
  std::string notes;
  std::vector<ExitMeaning> exit_statuses;
  std::vector<std::string> examples;
  std::vector<CommandGroup> groups;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_
