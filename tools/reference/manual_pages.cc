#include "tools/reference/manual_pages.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/settings/settings_table.h"
#include "tools/reference/command_page.h"
#include "tools/reference/described_programs.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using cli::Command;
using cli::Program;
using Blocks = std::vector<Block>;

constexpr char kCommandLine[] = "docs/cli.md";
constexpr char kSettings[] = "docs/settings.md";
constexpr char kMark[] = "**`";

// Pages about what commands show.
struct Topic {
  std::string_view command;
  std::string_view page;
};
constexpr Topic kTopics[] = {{"events", "cableway-events(7)"}, {"doctor", "cableway-findings(7)"},
                             {"env", "cableway(7)"},           {"plan addresses", "cableway-plan(5)"},
                             {"up", "cableway-plan(5)"},       {"sim", "cableway-mix(5)"}};

// Whether `text` begins with `mark`, the command's name, and a space or `mark`'s end: "**`path A B`**".
bool begins_with(const std::string& text, const std::string& mark, const std::string& name) {
  const std::string begin = absl::StrCat(mark, name);
  return absl::StartsWith(text, begin) && text.size() > begin.size() &&
         (text[begin.size()] == ' ' || text[begin.size()] == '`');
}

// The paragraphs about a command in docs/cli.md, "Commands": from the one that begins with its name to the next such.
Blocks described_at(const Blocks& blocks, const std::string& name) {
  const auto begin = std::find_if(blocks.begin(), blocks.end(),
                                  [&](const Block& block) { return begins_with(block.text, kMark, name); });
  if (begin == blocks.end()) return {};
  const auto end =
      std::find_if(begin + 1, blocks.end(), [](const Block& block) { return absl::StartsWith(block.text, kMark); });
  return {begin, end};
}

// The paragraphs about a command's JSON.
Blocks json_of(const Blocks& blocks, const std::string& name) {
  Blocks about;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(about),
               [&](const Block& block) { return begins_with(block.text, "`", name); });
  return about;
}

std::vector<Argument> with_help(std::vector<Argument> arguments) {
  arguments.push_back(help_flag());
  return arguments;
}

absl::StatusOr<ReferenceFile> command_page(const Command& command, const Program& program, const Documents& documents) {
  const absl::StatusOr<Blocks> commands = blocks_below(documents.command_line, "Commands", kCommandLine);
  if (!commands.ok()) return commands.status();
  const absl::StatusOr<Blocks> json = blocks_below(documents.command_line, "JSON", kCommandLine);
  if (!json.ok()) return json.status();
  RoffPage page({page_name(command), 1, program.version, command.summary});
  add_synopsis(page, absl::StrCat(program.name, " ", command.name), command.arguments);
  page.section("Description");
  Blocks described = described_at(*commands, command.name);
  // The options are listed below.
  std::erase_if(described, [](const Block& block) { return has_header(block, "option"); });
  if (described.empty())
    page.paragraph({bold(absl::StrCat(program.name, " ", command.name)), plain(" shows "),
                    plain(absl::StrCat(command.summary, "."))});
  add_blocks(page, described);
  add_paragraphs(page, command.notes);
  page.section("Options");
  add_arguments(page, with_help(command.arguments));
  if (const Blocks members = json_of(*json, command.name); !members.empty()) {
    page.section("Members of the JSON document");
    add_blocks(page, members);
  }
  add_exit_statuses(page, exit_statuses_of(command, program));
  add_examples(page, command.examples);
  std::vector<std::string> see_also = {"cableway(1)", "cablewayd(8)", "cableway-topology(5)", "cableway.toml(5)"};
  for (const auto& [name, topic] : kTopics) {
    if (name == command.name) see_also.emplace_back(topic);
  }
  add_see_also(page, see_also);
  return ReferenceFile{page.path(), page.text()};
}

// "path A B"
Spans shown_command(const Command& command) {
  Spans words = {bold(command.name)};
  for (const Argument& argument : command.arguments) {
    if (argument.kind != Argument::Kind::kPositional) continue;
    words.push_back(plain(" "));
    words.push_back(italic(argument.names));
  }
  return words;
}

ReferenceFile program_page(const Program& program, const std::vector<Command>& commands) {
  const std::vector<std::string> lines = absl::StrSplit(program.description, '\n');
  const std::string prefix = absl::StrCat(program.name, " - ");
  RoffPage page(
      {program.name, 1, program.version, std::string(absl::StripSuffix(absl::StripPrefix(lines[0], prefix), "."))});
  page.section("Synopsis");
  page.paragraph({bold(program.name), plain(" "), italic("COMMAND"), plain(" ["), italic("OPTION"), plain("]... ["),
                  italic("ARGUMENT"), plain("]...")});
  page.paragraph({bold(program.name), plain(" "), bold("--help"), plain(" | "), bold("--version")});
  page.section("Description");
  page.paragraph({plain(capitalized(std::string(absl::StripPrefix(program.description, prefix))))});
  add_paragraphs(page, program.notes);
  page.section("Commands");
  std::vector<std::string> see_also;
  for (const Command& command : commands) {
    see_also.push_back(absl::StrCat(page_name(command), "(1)"));
    page.tagged(shown_command(command), {plain(command.summary)});
  }
  page.section("Options");
  add_arguments(page, {help_flag(), version_flag()});
  add_exit_statuses(page, program.exit_statuses);
  add_examples(page, program.examples);
  for (const char* other :
       {"cablewayd(8)", "collperf(1)", "cableway.toml(5)", "cableway-topology(5)", "cableway-plan(5)",
        "cableway-mix(5)", "cableway(7)", "cableway-events(7)", "cableway-findings(7)"}) {
    see_also.emplace_back(other);
  }
  add_see_also(page, see_also);
  return ReferenceFile{page.path(), page.text()};
}

bool is_setting(const Argument& argument) {
  return std::any_of(all_settings().begin(), all_settings().end(),
                     [&](const Setting& setting) { return option_of(setting) == argument.name(); });
}

absl::StatusOr<ReferenceFile> daemon_page(const std::string& version, const Documents& documents) {
  const absl::StatusOr<Blocks> service = blocks_below(documents.settings, "As a systemd service", kSettings);
  if (!service.ok()) return service.status();
  const Command command = cablewayd_command();
  RoffPage page({command.name, 8, version, command.summary});
  page.section("Synopsis");
  page.paragraph({bold(command.name), plain(" ["), italic("OPTION"), plain("]...")});
  page.section("Description");
  add_paragraphs(page, command.notes);
  page.section("Options");
  std::vector<Argument> settings = command.arguments;
  const auto others = std::stable_partition(settings.begin(), settings.end(), is_setting);
  add_arguments(page, {others, settings.end()});
  settings.erase(others, settings.end());
  page.subsection("Settings");
  add_arguments(page, settings);
  page.section("As a systemd service");
  add_blocks(page, *service);
  add_exit_statuses(page, command.exit_statuses);
  add_see_also(page, {"cableway.toml(5)", "cableway(1)", "cableway(7)", "cableway-events(7)"});
  return ReferenceFile{page.path(), page.text()};
}

ReferenceFile collperf_page(const std::string& version) {
  const Command command = collperf_command();
  RoffPage page({command.name, 1, version, command.summary});
  add_synopsis(page, command.name, command.arguments);
  page.section("Description");
  page.paragraph({plain(absl::StrCat(capitalized(command.summary), "."))});
  add_paragraphs(page, command.notes);
  page.section("Options");
  add_arguments(page, command.arguments);
  add_exit_statuses(page, command.exit_statuses);
  add_see_also(page, {"cableway(1)", "cableway(7)", "cablewayd(8)"});
  return ReferenceFile{page.path(), page.text()};
}

}  // namespace

absl::StatusOr<std::vector<ReferenceFile>> pages_of_commands(const Program& program,
                                                             const std::vector<Command>& commands,
                                                             const Documents& documents) {
  std::vector<ReferenceFile> pages = {program_page(program, commands)};
  for (const Command& command : commands) {
    absl::StatusOr<ReferenceFile> page = command_page(command, program, documents);
    if (!page.ok()) return page.status();
    pages.push_back(*std::move(page));
  }
  return pages;
}

absl::StatusOr<std::vector<ReferenceFile>> pages_of_programs(const std::string& version, const Documents& documents) {
  absl::StatusOr<ReferenceFile> daemon = daemon_page(version, documents);
  if (!daemon.ok()) return daemon.status();
  return std::vector<ReferenceFile>{*std::move(daemon), collperf_page(version)};
}

}  // namespace cableway::reference
