// A command's arguments, as data: one description serves the parser, --help, manual pages and shell completion.
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
  // What the values name, for shells to complete.
  enum class Names { kNothing, kFiles, kNodes, kNodesAndCables };
  // Stores the values in the command's variables. Returns an error text; empty if the values are valid.
  using Take = std::function<std::string(const std::vector<std::string>& values)>;

  Kind kind;
  std::string names;    // "--follow,-f"; of a positional argument its placeholder, "A"
  std::string value;    // placeholder of an option's values in --help, "FILE"
  std::string meaning;  // lines are separated by "\n"
  Take take;
  std::string default_value = {};          // shown in --help
  int values = 1;                          // number of values per occurrence of an option
  bool repeatable = false;                 // whether an option may be given several times
  std::vector<std::string> excludes = {};  // options that cannot be combined with it
  std::vector<std::string> needs = {};     // options that have to be given with it
  std::vector<std::string> choices = {};   // all accepted values, if they are known words; else empty
  Names naming = Names::kNothing;

  // Returns this argument with more excluded options.
  Argument excluding(std::vector<std::string> others) &&;

  // Returns this argument with more options that have to be given with it.
  Argument needing(std::vector<std::string> others) &&;

  // Returns this argument with values that name such things.
  Argument that_names(Names things) &&;

  // The first of the names.
  std::string name() const;
};

// Each of these stores the given value in `target`, which outlives the parsing; the value before parsing is the
// default. Empty texts are rejected: they usually come from an unset shell variable.
Argument flag(std::string names, bool& target, std::string meaning);
Argument positional(std::string name, std::string& target, std::string meaning);
// One or more words, after all options' values.
Argument positionals(std::string name, std::vector<std::string>& target, std::string meaning);
Argument text_option(std::string names, std::string value, std::string& target, std::string meaning);
// May be given several times.
Argument texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
// Takes two words.
Argument two_texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
// One word, a comma-separated list.
Argument list_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning);
Argument choice_option(std::string names, std::vector<std::string> choices, std::string& target, std::string meaning);
// From `lowest` to `highest`.
Argument number_option(std::string names, int lowest, int highest, int& target, std::string meaning);
Argument real_option(std::string names, double lowest, double highest, double& target, std::string meaning);
// From 0.
Argument ordinal_option(std::string names, std::optional<std::uint64_t>& target, std::string meaning);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_ARGUMENT_H_
