#include "tools/cableway/command/command_parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "tools/cableway/command/exit_status.h"

namespace cableway::cli {
namespace {

std::vector<std::string> words_of(const std::string& name) {
  return absl::StrSplit(name, ' ');
}

// A suggestion for `typed`, in any case: "did you mean "plan"?", or `otherwise` if no name is similar.
std::string suggestion(const std::string& typed, const std::vector<std::string>& names, const std::string& otherwise) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::optional<std::string_view> nearest = routing::nearest_name(absl::AsciiStrToLower(typed), views);
  return nearest ? absl::StrCat("did you mean ", routing::in_quotes(*nearest), "?") : otherwise;
}

// "topology, routes or plan"
std::string alternatives(const std::vector<std::string>& names) {
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return absl::StrCat(absl::StrJoin(first, ", "), first.empty() ? "" : " or ", names.back());
}

std::string footer(std::vector<std::string> paragraphs, const std::vector<std::string>& examples) {
  paragraphs.push_back(absl::StrCat("Examples:\n  ", absl::StrJoin(examples, "\n  ")));
  std::erase(paragraphs, "");
  return absl::StrJoin(paragraphs, "\n\n");
}

// CLI11's formatter, without the list of excluded options after each option.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_type_name();
    const std::string otherwise = option->get_default_str();
    return absl::StrCat(value.empty() ? "" : " ", value, otherwise.empty() ? "" : "=", otherwise);
  }
};

void add_argument(CLI::App& app, const Argument& argument) {
  const auto take = [&argument](const std::vector<std::string>& values) {
    if (std::string wrong = argument.take(values); !wrong.empty()) throw CLI::ValidationError(argument.name(), wrong);
    return true;
  };
  if (argument.kind == Argument::Kind::kFlag) {
    app.add_flag_callback(
        argument.names, [take] { take({}); }, argument.meaning);
    return;
  }
  CLI::Option* const option = app.add_option(argument.names, take, argument.meaning);
  option->type_name(argument.value)->default_str(argument.default_value)->expected(argument.values);
  constexpr int kOneOrMore = -1;
  if (argument.kind == Argument::Kind::kPositional && argument.repeatable) option->expected(kOneOrMore);
  option->required(argument.kind == Argument::Kind::kPositional);
  if (argument.repeatable) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_arguments(CLI::App& app, const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) add_argument(app, argument);
  for (const Argument& argument : arguments) {
    for (const std::string& other : argument.excludes) {
      app.get_option(argument.name())->excludes(app.get_option(other));
    }
    for (const std::string& other : argument.needs) app.get_option(argument.name())->needs(app.get_option(other));
  }
}

// The commands as CLI11 subcommands; each word of a name is one level.
class CommandTree {
 public:
  CommandTree(const Program& program, const std::vector<Command>& commands)
      : program_(program), commands_(commands), root_(program.description, program.name) {
    root_.formatter(std::make_shared<HelpFormatter>());
    root_.footer(footer({program.notes, routing::exit_line(program.exit_statuses)}, program.examples));
    root_.set_version_flag("--version", absl::StrCat(program.name, " ", program.version),
                           "print the version, and exit");
    root_.require_subcommand(1);
    for (const Command& command : commands) add(command);
  }

  std::variant<std::size_t, int> parse(const std::vector<std::string>& arguments, std::ostream& out,
                                       std::ostream& err) {
    if (const std::string wrong = command_error(arguments); !wrong.empty()) return refuse(wrong, "", err);
    // CLI11 expects them in reverse order.
    std::vector<std::string> from_the_end(arguments.rbegin(), arguments.rend());
    try {
      root_.parse(std::move(from_the_end));
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return root_.exit(error, out, err);
      const std::size_t command = parsed_command();
      if (command < commands_.size())
        return refuse(error_text(commands_[command], error), commands_[command].name, err);
      return refuse(absl::StrCat(expected_command(), ", found ", routing::in_quotes(arguments.front())), "", err);
    }
    return parsed_command();
  }

 private:
  // `command`: the one whose --help is referred to; empty for the program.
  int refuse(const std::string& why, const std::string& command, std::ostream& err) const {
    err << program_.name << ": " << why << (why.ends_with('?') ? " See " : "; see ") << program_.name << " " << command
        << (command.empty() ? "" : " ") << "--help\n";
    return kNotUsable;
  }

  void add(const Command& command) {
    const std::vector<std::string> words = words_of(command.name);
    CLI::App* const parent = words.size() > 1 ? &group(words.front()) : &root_;
    CLI::App* const app = parent->add_subcommand(words.back(), command.summary);
    app->footer(footer({command.notes, routing::exit_line(command.exit_statuses)}, command.examples));
    add_arguments(*app, command.arguments);
    apps_.push_back(app);
  }

  CLI::App& group(const std::string& name) {
    if (const auto known = groups_.find(name); known != groups_.end()) return *known->second;
    std::string summary;
    for (const CommandGroup& each : program_.groups) {
      if (each.name == name) summary = each.summary;
    }
    CLI::App* const added =
        root_.add_subcommand(name, absl::StrCat(summary, ": ", absl::StrJoin(members_of(name), ", ")));
    added->require_subcommand(1);
    added->footer(footer({absl::StrCat(program_.name, " ", name, " COMMAND --help shows the options of a command.")},
                         examples_of(name)));
    groups_[name] = added;
    return *added;
  }

  std::vector<std::string> examples_of(const std::string& group) const {
    std::vector<std::string> examples;
    for (const Command& command : commands_) {
      if (words_of(command.name).front() != group) continue;
      examples.insert(examples.end(), command.examples.begin(), command.examples.end());
    }
    return examples;
  }

  // The second words of a group's commands.
  std::vector<std::string> members_of(const std::string& group) const {
    std::vector<std::string> members;
    for (const Command& command : commands_) {
      const std::vector<std::string> words = words_of(command.name);
      if (words.size() > 1 && words.front() == group) members.push_back(words.back());
    }
    return members;
  }

  std::vector<std::string> first_words() const {
    std::vector<std::string> names;
    for (const Command& command : commands_) {
      const std::string word = words_of(command.name).front();
      if (std::find(names.begin(), names.end(), word) == names.end()) names.push_back(word);
    }
    return names;
  }

  std::string expected_command() const { return absl::StrCat("expected ", alternatives(first_words())); }

  // The error in the words that name a command; empty if there is none. CLI11 itself reports an unknown subcommand as a
  // missing one.
  std::string command_error(const std::vector<std::string>& arguments) const {
    if (arguments.empty()) return expected_command();
    const std::string& first = arguments[0];
    if (first.starts_with('-')) return "";
    const std::vector<std::string> firsts = first_words();
    if (std::find(firsts.begin(), firsts.end(), first) == firsts.end())
      return unknown_command(first, expected_command());
    const std::vector<std::string> members = members_of(first);
    const std::string second = arguments.size() > 1 ? arguments[1] : "";
    if (members.empty() || second == "--help" || second == "-h") return "";
    if (std::find(members.begin(), members.end(), second) != members.end()) return "";
    std::string expected = absl::StrCat("expected ", first, " ", alternatives(members));
    if (second.empty() || second.starts_with('-')) return expected;
    return unknown_command(absl::StrCat(first, " ", second), expected);
  }

  std::string unknown_command(const std::string& typed, const std::string& expected) const {
    std::vector<std::string> names;
    std::string whole = absl::AsciiStrToLower(typed);
    for (const Command& command : commands_) {
      names.push_back(command.name);
      // The second word alone identifies the command.
      if (words_of(command.name).back() == whole) whole = command.name;
    }
    for (const CommandGroup& group : program_.groups) names.push_back(group.name);
    return absl::StrCat("no command ", routing::in_quotes(typed), "; ", suggestion(whole, names, expected));
  }

  // The number of commands if none was parsed.
  std::size_t parsed_command() const {
    const auto parsed = std::find_if(apps_.begin(), apps_.end(), [](const CLI::App* app) { return app->parsed(); });
    return static_cast<std::size_t>(parsed - apps_.begin());
  }

  std::string error_text(const Command& command, const CLI::ParseError& error) const {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
    const std::vector<std::string> extras = root_.remaining(/*recurse=*/true);
    const auto is_option = [](const std::string& extra) { return extra.size() > 1 && extra.starts_with('-'); };
    const auto option = std::find_if(extras.begin(), extras.end(), is_option);
    if (option == extras.end()) return absl::StrCat("unexpected argument ", routing::in_quotes(extras.front()));
    const std::string typed = option->substr(0, option->find('='));
    std::vector<std::string> known = {"--help"};
    for (const Argument& argument : command.arguments) {
      if (argument.kind == Argument::Kind::kPositional) continue;
      const std::vector<std::string> names = absl::StrSplit(argument.names, ',');
      known.insert(known.end(), names.begin(), names.end());
    }
    if (std::find(known.begin(), known.end(), typed) != known.end()) {
      return absl::StrCat("option ", routing::in_quotes(typed), " goes after the command: ", program_.name, " ",
                          command.name, " ", typed);
    }
    return absl::StrCat(command.name, " has no option ", routing::in_quotes(typed), "; ",
                        suggestion(typed, known, absl::StrCat("it has ", absl::StrJoin(known, ", "))));
  }

  const Program& program_;
  const std::vector<Command>& commands_;
  CLI::App root_;
  std::vector<CLI::App*> apps_;  // in the order of the commands
  std::map<std::string, CLI::App*> groups_;
};

}  // namespace

std::variant<std::size_t, int> parse_command_line(const Program& program, const std::vector<Command>& commands,
                                                  const std::vector<std::string>& arguments, std::ostream& out,
                                                  std::ostream& err) {
  return CommandTree(program, commands).parse(arguments, out, err);
}

}  // namespace cableway::cli
