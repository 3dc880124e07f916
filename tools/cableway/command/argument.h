// What a command takes on its command line, as data: by one description it is read, and --help is written.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_ARGUMENT_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_ARGUMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cableway::cli {

struct Argument {
  enum class Kind { kFlag, kOption, kPositional };
  // Puts the values where the command wants them. Returns what is wrong with them, empty: nothing.
  using Take = std::function<std::string(const std::vector<std::string>& values)>;

  Kind kind;
  std::string names;    // "--follow,-f"; of a positional argument what stands for it, "A"
  std::string value;    // what stands for the values of an option in --help, "FILE"
  std::string meaning;  // its lines end with "\n", but for the last
  Take take;
  std::string default_value = {};          // as --help shows it
  int values = 1;                          // how many an option takes at a time
  bool repeatable = false;                 // an option may be given several times
  std::vector<std::string> excludes = {};  // options that cannot stand beside it

  // The same, but it cannot stand beside these.
  Argument excluding(std::vector<std::string> others) &&;

  // The first of the names.
  std::string name() const;
};

// Each of these puts what is given into `target`, which outlives the parsing; what it holds before is the default. No
// text may be empty: a shell's variable that is not set is not what was meant.
Argument flag(std::string names, bool& target, std::string meaning);
Argument positional(std::string name, std::string& target, std::string meaning);
Argument text_option(std::string names, std::string value, std::string& target, std::string meaning);
// May be given several times.
Argument texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
// Two words behind the option.
Argument two_texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
// One word with commas.
Argument list_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
Argument choice_option(std::string names, std::vector<std::string> choices, std::string& target, std::string meaning);
// From `lowest` to `highest`.
Argument number_option(std::string names, int lowest, int highest, int& target, std::string meaning);
Argument real_option(std::string names, double lowest, double highest, double& target, std::string meaning);
// From 0.
Argument ordinal_option(std::string names, std::optional<std::uint64_t>& target, std::string meaning);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_ARGUMENT_H_
