#include "tools/reference/completion.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cableway::reference {

std::vector<std::string> names_of(const cli::Argument& argument) {
  return absl::StrSplit(argument.names, ',');
}

std::string short_text(const std::string& text) {
  constexpr std::size_t kShort = 70;
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= kShort) return line;
  for (const char* const mark : {": ", "; ", ". ", " (", ", "}) {
    if (const std::size_t end = line.find(mark); end <= kShort) return line.substr(0, end);
  }
  return line.substr(0, line.rfind(' ', kShort));
}

std::vector<const cli::Command*> members_of(const CompletedProgram& program, const std::string& group) {
  std::vector<const cli::Command*> members;
  for (const cli::Command& command : program.commands) {
    if (absl::StartsWith(command.name, absl::StrCat(group, " "))) members.push_back(&command);
  }
  return members;
}

}  // namespace cableway::reference
