#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/reference/completion.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using cli::Command;

// PROGRAM is replaced by the program's name. The tables before it are two functions, called as below.
constexpr char kBashEngine[] = R"bash(
# Reads the words up to the cursor into `words`. Bash splits them at = and :, which is undone here.
_PROGRAM_read_words() {
  local rest=${COMP_LINE:0:COMP_POINT} trimmed word i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$trimmed
    if ((i > 0)) && [[ $trimmed == "$rest" ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

# Offers each line of the input that begins with `value`, without the part of it that bash takes for earlier words.
_PROGRAM_offer() {
  local line breaks='' done=''
  [[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
  [[ $COMP_WORDBREAKS != *:* ]] || breaks+=':'
  [[ -z $breaks ]] || done=${current%"${current##*[$breaks]}"}
  while IFS= read -r line; do
    [[ -n $line && $line == "$value"* ]] || continue
    line=$head$line
    COMPREPLY+=("${line#"$done"}")
  done
}

# The names of nodes, and with "all" of cables, too, of the topology that is named, else of the node that runs here.
_PROGRAM_names() {
  local kind name
  timeout 2 cableway topology --names ${topology:+--file "$topology"} 2>/dev/null | while read -r kind name; do
    [[ $1 != all && $kind != node ]] || printf '%s\n' "$name"
  done
}

_PROGRAM() {
  local words=() current value head='' command='' option='' options='' next='' kind='' choices='' topology='' word i
  local -i arity=0 pending=0 positionals=0
  COMPREPLY=()
  _PROGRAM_read_words
  current=${words[-1]}
  _PROGRAM_command ''
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if ((pending > 0)); then
      pending+=-1
    elif [[ $word == -* ]]; then
      option=${word%%=*}
      _PROGRAM_values "$command" "$option"
      pending=arity
      [[ $word != *=* ]] || pending=0 word=${word#*=}
    elif [[ -n $next ]]; then
      command+=${command:+ }$word
      _PROGRAM_command "$command"
    else
      positionals+=1
    fi
    ((pending > 0)) && continue
    [[ $option != --file && $option != --topology ]] || topology=$word
    option=''
  done
  value=$current
  if ((pending > 0)); then
    :
  elif [[ $current == --*=* ]]; then
    _PROGRAM_values "$command" "${current%%=*}"
    head=${current%%=*}=
    value=${current#*=}
  elif [[ $current == -* ]]; then
    kind=words choices=$options
  elif [[ -n $next ]]; then
    kind=words choices=$next
  else
    _PROGRAM_values "$command" "$((positionals + 1))"
    [[ -n $kind ]] || kind=words choices=$options
  fi
  if [[ $kind == nodes ]]; then
    head+=${value%"${value##*,}"}
    value=${value##*,}
  fi
  case $kind in
    words) _PROGRAM_offer < <(printf '%s\n' ${choices}) ;;
    files)
      compopt -o filenames 2>/dev/null
      _PROGRAM_offer < <(compgen -f -- "$value")
      ;;
    nodes) _PROGRAM_offer < <(_PROGRAM_names nodes) ;;
    all) _PROGRAM_offer < <(_PROGRAM_names all) ;;
  esac
}

complete -F _PROGRAM PROGRAM
)bash";

std::string all_names(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::kPositional) continue;
    for (std::string& name : names_of(argument)) names.push_back(std::move(name));
  }
  return absl::StrJoin(names, " ");
}

// One line of the function that describes what may follow the words of `command`.
std::string command_case(const std::string& command, const std::string& options, const std::string& next) {
  return absl::StrCat("    '", command, "') options='", options, "' next='", next, "' ;;\n");
}

std::string first_words(const CompletedProgram& program) {
  std::vector<std::string> words;
  for (const Command& command : program.commands) {
    const std::string word = command.name.substr(0, command.name.find(' '));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return absl::StrJoin(words, " ");
}

std::string command_table(const CompletedProgram& program) {
  std::string text =
      absl::StrCat("# Sets `options` to those of the command, and `next` to the words that complete it.\n_",
                   program.name, "_command() {\n  case $1 in\n");
  const bool has_commands = !program.commands.front().name.empty();
  if (has_commands) absl::StrAppend(&text, command_case("", all_names(program.options), first_words(program)));
  for (const cli::CommandGroup& group : program.groups) {
    std::vector<std::string> words;
    for (const Command* member : members_of(program, group.name)) {
      words.push_back(member->name.substr(group.name.size() + 1));
    }
    absl::StrAppend(&text, command_case(group.name, "--help -h", absl::StrJoin(words, " ")));
  }
  for (const Command& command : program.commands) {
    absl::StrAppend(&text, command_case(command.name, all_names(command.arguments), ""));
  }
  return absl::StrCat(text, "    *) options='' next='' ;;\n  esac\n}\n");
}

// "kind=nodes"; empty: nothing to offer.
std::string offered(const Argument& argument) {
  if (!argument.choices.empty())
    return absl::StrCat(" kind=words choices='", absl::StrJoin(argument.choices, " "), "'");
  switch (argument.naming) {
    case Argument::Names::kFiles:
      return " kind=files";
    case Argument::Names::kNodes:
      return " kind=nodes";
    case Argument::Names::kNodesAndCables:
      return " kind=all";
    case Argument::Names::kNothing:
      break;
  }
  return argument.kind == Argument::Kind::kPositional ? "" : " kind=none";
}

std::string value_table(const CompletedProgram& program) {
  std::string text = absl::StrCat(
      "\n# Sets `arity` to the number of values of an option of the command, and `kind` and `choices` to what\n",
      "# they may be; for a number, of the argument in that place.\n_", program.name,
      "_values() {\n  arity=0 kind='' choices=''\n  case \"$1 $2\" in\n");
  for (const Command& command : program.commands) {
    int place = 0;
    for (const Argument& argument : command.arguments) {
      if (argument.kind == Argument::Kind::kFlag) continue;
      const bool is_positional = argument.kind == Argument::Kind::kPositional;
      const std::vector<std::string> names =
          is_positional ? std::vector<std::string>{absl::StrCat(++place)} : names_of(argument);
      for (const std::string& name : names) {
        absl::StrAppend(&text, "    '", command.name, " ", name, "') arity=", argument.values, offered(argument),
                        " ;;\n");
      }
    }
  }
  return absl::StrCat(text, "  esac\n}\n");
}

}  // namespace

std::string bash_completion(const CompletedProgram& program) {
  return absl::StrCat("# Completion of ", program.name, " for bash. Written by cableway_reference.\n\n",
                      command_table(program), value_table(program),
                      absl::StrReplaceAll(kBashEngine, {{"PROGRAM", program.name}}));
}

}  // namespace cableway::reference
