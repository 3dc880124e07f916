// A program and its commands, as data: what --help shows, and what their command lines take.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_

#include <string>
#include <vector>

#include "tools/cableway/command/argument.h"

namespace cableway::cli {

struct Command {
  std::string name;  // one word, or two with a space: the first is then a group's
  std::string summary;
  std::string notes = {};  // of --help, below the options; paragraphs with an empty line between them
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
  std::vector<std::string> examples;
  std::vector<CommandGroup> groups;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_COMMAND_H_
