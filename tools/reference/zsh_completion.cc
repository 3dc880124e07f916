#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/reference/completion.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using cli::Command;

// Names of nodes, and with "all" of cables, too; of nodes separated by commas. _arguments puts arguments of compadd
// before those of an action.
constexpr char kZshNames[] = R"zsh(
_PROGRAM__names() {
  local file=${opt_args[--file]:-${opt_args[--topology]}} kind name
  local -a names
  timeout 2 cableway topology --names ${file:+--file} ${file:+${file//\\:/:}} 2>/dev/null | while read -r kind name; do
    [[ $argv[-1] != all && $kind != node ]] || names+=("$name")
  done
  compadd "${@[1,-2]}" -a names
}

_PROGRAM__node_list() {
  compset -P '*,'
  _PROGRAM__names "$@" nodes
}
)zsh";

std::string escaped_for_spec(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

// What completes a value: ":message:action".
std::string action_of(const Argument& argument, const std::string& program) {
  const bool is_positional = argument.kind == Argument::Kind::kPositional;
  const std::string message = escaped_for_spec(is_positional ? argument.names : argument.value);
  std::string action = " ";
  if (!argument.choices.empty()) {
    action = absl::StrCat("(", absl::StrJoin(argument.choices, " "), ")");
  } else if (argument.naming == Argument::Names::kFiles) {
    action = "_files";
  } else if (argument.naming == Argument::Names::kNodes) {
    action = is_positional ? absl::StrCat("_", program, "__names nodes") : absl::StrCat("_", program, "__node_list");
  } else if (argument.naming == Argument::Names::kNodesAndCables) {
    action = absl::StrCat("_", program, "__names all");
  }
  return absl::StrCat(":", message, ":", action);
}

// The specification of an argument for _arguments: one for each of an option's names.
std::vector<std::string> specs_of(const Argument& argument, int place, const std::string& program) {
  if (argument.kind == Argument::Kind::kPositional) {
    return {absl::StrCat("'", place, action_of(argument, program), "'")};
  }
  const std::vector<std::string> names = names_of(argument);
  std::vector<std::string> excluded = argument.excludes;
  excluded.insert(excluded.end(), names.begin(), names.end());
  const std::string prefix = argument.repeatable ? "*" : absl::StrCat("(", absl::StrJoin(excluded, " "), ")");
  std::string values;
  const bool is_option = argument.kind == Argument::Kind::kOption;
  for (int i = 0; is_option && i < argument.values; ++i) absl::StrAppend(&values, action_of(argument, program));
  std::vector<std::string> specs;
  for (const std::string& name : names) {
    const bool with_equals = is_option && argument.values == 1 && name.size() > 2;
    specs.push_back(absl::StrCat("'", prefix, name, with_equals ? "=" : "", "[",
                                 escaped_for_spec(short_text(argument.meaning)), "]", values, "'"));
  }
  return specs;
}

std::string arguments_call(const std::vector<Argument>& arguments, const std::string& program) {
  std::vector<std::string> specs;
  int place = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::kPositional) ++place;
    for (std::string& spec : specs_of(argument, place, program)) specs.push_back(std::move(spec));
  }
  return absl::StrCat("  _arguments -S \\\n    ", absl::StrJoin(specs, " \\\n    "), "\n");
}

std::string function_of(const std::string& program, const std::string& command) {
  return absl::StrCat("_", program, command.empty() ? "" : "_", absl::StrReplaceAll(command, {{" ", "_"}}));
}

// One word of several that complete a command, with its summary.
struct ZshWord {
  std::string word;
  std::string summary;
};

// A function that offers words, and goes on with the function of the one that was chosen.
std::string chooser(const std::string& function, const std::vector<ZshWord>& words, const std::string& options) {
  std::string text =
      absl::StrCat(function, "() {\n  local state line context\n  typeset -A opt_args\n  local -a words_here=(\n");
  for (const ZshWord& each : words) {
    absl::StrAppend(&text, "    '", each.word, ":", escaped_for_spec(each.summary), "'\n");
  }
  absl::StrAppend(&text, "  )\n  _arguments -C ", options, " '1: :->word' '*:: :->argument'\n  case $state in\n");
  absl::StrAppend(&text, "    word) _describe command words_here ;;\n    argument)\n");
  absl::StrAppend(&text, "      (($+functions[", function, "_$words[1]])) && ", function,
                  "_$words[1]\n      ;;\n  esac\n}\n");
  return text;
}

std::string command_functions(const CompletedProgram& program) {
  std::string text;
  std::vector<ZshWord> first;
  for (const cli::CommandGroup& group : program.groups) {
    std::vector<ZshWord> words;
    for (const Command* member : members_of(program, group.name)) {
      words.push_back({member->name.substr(group.name.size() + 1), short_text(member->summary)});
    }
    first.push_back({group.name, group.summary});
    absl::StrAppend(&text, "\n", chooser(function_of(program.name, group.name), words, "'(- *)--help'"));
  }
  for (const Command& command : program.commands) {
    if (command.name.find(' ') == std::string::npos) first.push_back({command.name, short_text(command.summary)});
    absl::StrAppend(&text, "\n", function_of(program.name, command.name), "() {\n",
                    arguments_call(command.arguments, program.name), "}\n");
  }
  std::vector<std::string> options;
  for (const Argument& argument : program.options) {
    for (const std::string& name : names_of(argument)) options.push_back(absl::StrCat("'(- *)", name, "'"));
  }
  return absl::StrCat(text, "\n", chooser(function_of(program.name, ""), first, absl::StrJoin(options, " ")));
}

}  // namespace

std::string zsh_completion(const CompletedProgram& program) {
  std::string text = absl::StrCat("#compdef ", program.name, "\n# Completion of ", program.name,
                                  " for zsh. Written by cableway_reference.\n");
  if (program.commands.front().name.empty()) {
    absl::StrAppend(&text, "\n", function_of(program.name, ""), "() {\n",
                    arguments_call(program.commands.front().arguments, program.name), "}\n");
  } else {
    absl::StrAppend(&text, absl::StrReplaceAll(kZshNames, {{"PROGRAM", program.name}}), command_functions(program));
  }
  return absl::StrCat(text, "\n", function_of(program.name, ""), " \"$@\"\n");
}

}  // namespace cableway::reference
