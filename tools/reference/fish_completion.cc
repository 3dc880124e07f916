#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/reference/completion.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using cli::Command;

constexpr char kFishFunctions[] = R"fish(
# The words before the cursor that are no options.
function __PROGRAM_words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or echo $word
    end
end

# Whether these words begin the command, and whether they are all of it.
function __PROGRAM_runs
    set -l words (__PROGRAM_words)
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end

function __PROGRAM_wants
    test (count (__PROGRAM_words)) -eq (count $argv); and test "$(__PROGRAM_words)" = "$argv"
end

# The names of nodes, and with "all" of cables, too, of the topology that is named, else of the node that runs here.
function __PROGRAM_names
    set -l file
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        if contains -- $words[$i] --file --topology
            set file --file $words[(math $i + 1)]
        else if string match -qr -- '^--(file|topology)=' $words[$i]
            set file --file (string replace -r -- '^[^=]*=' '' $words[$i])
        end
    end
    timeout 2 cableway topology --names $file 2>/dev/null | while read -l kind name
        if test "$argv" = all; or test "$kind" = node
            echo $name
        end
    end
end

# Whether the word before the last one is the option: its second value is next.
function __PROGRAM_second_of
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[-2]" = "$argv"
end
)fish";

std::string quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// What completes a value: the arguments of `complete` for it.
std::string values_of(const Argument& argument, const std::string& program) {
  if (argument.kind == Argument::Kind::kFlag) return "";
  if (!argument.choices.empty()) return absl::StrCat(" -x -a ", quoted(absl::StrJoin(argument.choices, " ")));
  const std::string names = absl::StrCat("__", program, "_names");
  switch (argument.naming) {
    case Argument::Names::kFiles:
      return " -r -F";
    case Argument::Names::kNodes:
      return argument.kind == Argument::Kind::kPositional
                 ? absl::StrCat(" -x -a '(", names, " nodes)'")
                 : absl::StrCat(" -x -a '(__fish_complete_list , \"", names, " nodes\")'");
    case Argument::Names::kNodesAndCables:
      return absl::StrCat(" -x -a '(", names, " all)'");
    case Argument::Names::kNothing:
      break;
  }
  return argument.kind == Argument::Kind::kOption ? " -x" : "";
}

// `begin`: "complete -c PROGRAM", with the condition of the command.
std::string completed(const Argument& argument, const std::string& begin, const std::string& program) {
  std::string line = begin;
  if (argument.kind != Argument::Kind::kPositional) {
    for (const std::string& name : names_of(argument)) {
      const bool is_long = name.size() > 2;
      absl::StrAppend(&line, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
    }
  }
  const std::string values = values_of(argument, program);
  // Fish does not tell which place a word has, so names get no description.
  if (argument.kind == Argument::Kind::kPositional) return values.empty() ? "" : absl::StrCat(line, values, "\n");
  return absl::StrCat(line, values, " -d ", quoted(short_text(argument.meaning)), "\n");
}

// Fish knows options of one value only.
std::string second_value(const Argument& argument, const Command& command, const std::string& program) {
  if (argument.values < 2 || argument.naming != Argument::Names::kFiles) return "";
  return absl::StrCat("complete -c ", program, " -n '__", program, "_runs ", command.name, "; and __", program,
                      "_second_of ", argument.name(), "' -F\n");
}

std::string fish_commands(const CompletedProgram& program) {
  const std::string begin = absl::StrCat("complete -c ", program.name, " -n '__", program.name);
  const std::string wants = absl::StrCat(begin, "_wants");
  std::string text;
  for (const cli::CommandGroup& group : program.groups) {
    absl::StrAppend(&text, wants, "' -a ", group.name, " -d ", quoted(group.summary), "\n");
  }
  for (const Argument& argument : program.options) {
    absl::StrAppend(&text, completed(argument, absl::StrCat(wants, "'"), program.name));
  }
  for (const Command& command : program.commands) {
    const std::size_t space = command.name.find(' ');
    const std::string group = space == std::string::npos ? "" : absl::StrCat(" ", command.name.substr(0, space));
    absl::StrAppend(&text, wants, group, "' -a ", command.name.substr(group.empty() ? 0 : space + 1), " -d ",
                    quoted(short_text(command.summary)), "\n");
  }
  for (const Command& command : program.commands) {
    const std::string runs = absl::StrCat(begin, "_runs ", command.name, "'");
    absl::StrAppend(&text, "\n");
    std::string last;
    for (const Argument& argument : command.arguments) {
      std::string line = completed(argument, runs, program.name);
      if (line != last) absl::StrAppend(&text, line, second_value(argument, command, program.name));
      last = std::move(line);
    }
  }
  return text;
}

}  // namespace

std::string fish_completion(const CompletedProgram& program) {
  std::string text = absl::StrCat("# Completion of ", program.name, " for fish. Written by cableway_reference.\n");
  const std::string begin = absl::StrCat("complete -c ", program.name);
  if (!program.commands.front().name.empty()) {
    return absl::StrCat(text, absl::StrReplaceAll(kFishFunctions, {{"PROGRAM", program.name}}), "\n", begin, " -f\n",
                        fish_commands(program));
  }
  absl::StrAppend(&text, begin, " -f\n");
  for (const Argument& argument : program.commands.front().arguments) {
    absl::StrAppend(&text, completed(argument, begin, program.name));
  }
  return text;
}

}  // namespace cableway::reference
