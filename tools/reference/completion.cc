#include "tools/reference/completion.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cableway::reference {

std::vector<std::string> names_of(const cli::Argument& argument) {
  return absl::StrSplit(argument.names, ',');
}

std::string short_meaning(const cli::Argument& argument) {
  constexpr std::size_t kShort = 60;
  std::string line = argument.meaning.substr(0, argument.meaning.find('\n'));
  if (line.size() <= kShort) return line;
  std::size_t end = line.size();
  for (const char* const mark : {": ", "; ", ". ", ", ", " ("}) end = std::min(end, line.find(mark));
  return line.substr(0, end);
}

std::vector<const cli::Command*> members_of(const CompletedProgram& program, const std::string& group) {
  std::vector<const cli::Command*> members;
  for (const cli::Command& command : program.commands) {
    if (absl::StartsWith(command.name, absl::StrCat(group, " "))) members.push_back(&command);
  }
  return members;
}

}  // namespace cableway::reference
