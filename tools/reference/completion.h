// Completions of a program for shells: its commands, their options and values, files, and names of nodes and cables.
//
// Names are those of the topology that the command line names with --file, else of the node that runs here, as
// `cableway topology --names` prints them; where it fails, or takes more than two seconds, there are none.
#ifndef CABLEWAY_TOOLS_REFERENCE_COMPLETION_H_
#define CABLEWAY_TOOLS_REFERENCE_COMPLETION_H_

#include <string>
#include <vector>

#include "tools/cableway/command/command.h"

namespace cableway::reference {

struct CompletedProgram {
  std::string name;
  // A program without commands has one, whose name is empty.
  std::vector<cli::Command> commands;
  std::vector<cli::CommandGroup> groups = {};
  std::vector<cli::Argument> options = {};  // those before a command
};

// Each is the text of the file that the shell loads for the program.
std::string bash_completion(const CompletedProgram& program);
std::string zsh_completion(const CompletedProgram& program);
std::string fish_completion(const CompletedProgram& program);

// The names of an option: {"--follow", "-f"}.
std::vector<std::string> names_of(const cli::Argument& argument);

// The beginning of a meaning or a summary that says the most in one short line.
std::string short_text(const std::string& text);

// The commands of a group.
std::vector<const cli::Command*> members_of(const CompletedProgram& program, const std::string& group);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_COMPLETION_H_
