// The program `cableway` with all its commands, as data: for its command line, and for its manual pages and
// completions.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_SET_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_SET_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tools/cableway/command/command.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

Program cableway_program();

// Every verb, and the command that each describes. Their arguments refer to this object.
class CommandSet {
 public:
  CommandSet();
  CommandSet(const CommandSet&) = delete;
  CommandSet& operator=(const CommandSet&) = delete;

  const std::vector<Command>& commands() const { return commands_; }
  // The verb of the command with this index.
  Verb& verb(std::size_t index) { return *verbs_[index]; }
  // The settings file that the arguments name; empty: none.
  const std::string& config() const { return config_; }
  // "auto", "always" or "never".
  const std::string& color() const { return color_; }

 private:
  std::string config_;
  std::string color_ = "auto";
  std::vector<std::unique_ptr<Verb>> verbs_;
  std::vector<Command> commands_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_SET_H_
