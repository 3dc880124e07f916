#include "tools/reference/reference_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/event/event_code.h"
#include "core/settings/settings_table.h"
#include "tools/cableway/command_set.h"
#include "tools/cableway/doctor/finding_code.h"
#include "tools/reference/command_page.h"
#include "tools/reference/completion.h"
#include "tools/reference/described_programs.h"

namespace cableway::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Names = std::vector<std::string>;

std::string document(const std::string& name) {
  std::ifstream file(absl::StrCat(CABLEWAY_DOCS, "/", name));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Documents documents() {
  return {parse_markdown(document("cli.md")), parse_markdown(document("settings.md")),
          parse_markdown(document("findings.md"))};
}

const std::map<std::string, std::string>& files() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> texts;
    const absl::StatusOr<std::vector<ReferenceFile>> written = reference_files(documents());
    EXPECT_TRUE(written.ok()) << written.status();
    for (const ReferenceFile& file : *written) EXPECT_TRUE(texts.emplace(file.path, file.text).second) << file.path;
    return texts;
  }();
  return all;
}

std::string file(const std::string& path) {
  const auto found = files().find(path);
  EXPECT_NE(found, files().end()) << path;
  return found == files().end() ? "" : found->second;
}

// The line of a page that begins the entry of an argument contains this.
std::string tag(const std::string& name, bool is_positional) {
  return absl::StrCat(is_positional ? "\\fI" : "\\fB", absl::StrReplaceAll(name, {{"-", "\\-"}}), "\\fR");
}

// The names of arguments that have no entry in the page.
Names missing_from(const std::string& page, const std::vector<cli::Argument>& arguments) {
  Names entries;
  const std::vector<std::string> lines = absl::StrSplit(page, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i - 1] == ".TP 7") entries.push_back(lines[i]);
  }
  const auto listed = [&](const std::string& text) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const std::string& entry) { return entry.find(text) != std::string::npos; });
  };
  Names missing;
  for (const cli::Argument& argument : arguments) {
    for (const std::string& name : names_of(argument)) {
      if (!listed(tag(name, argument.kind == cli::Argument::Kind::kPositional))) missing.push_back(name);
    }
  }
  return missing;
}

std::string page_of(const cli::Command& command) {
  return file(absl::StrCat("man/man1/", page_name(command), ".1"));
}

TEST(ManualPagesTest, EveryCommandHasAPageWithEveryArgument) {
  const cli::CommandSet set;
  for (const cli::Command& command : set.commands()) {
    const std::string page = page_of(command);
    EXPECT_THAT(missing_from(page, command.arguments), IsEmpty()) << command.name;
    EXPECT_THAT(missing_from(page, {help_flag()}), IsEmpty()) << command.name;
    for (const std::string& example : command.examples) {
      EXPECT_THAT(page, HasSubstr(roff_escaped(example.substr(0, 30), Hyphens::kMinuses))) << command.name;
    }
    for (const cli::ExitMeaning& each : command.exit_statuses) {
      EXPECT_THAT(page, HasSubstr(absl::StrCat("\\fB", each.status, "\\fR\n"))) << command.name;
    }
    EXPECT_THAT(file("man/man1/cableway.1"), HasSubstr(absl::StrCat("\\fB", command.name, "\\fR")));
  }
}

TEST(ManualPagesTest, APlantedOmissionIsFound) {
  const cli::CommandSet set;
  const cli::Command& command = set.commands().front();
  const std::string page =
      absl::StrReplaceAll(page_of(command), {{".TP 7\n\\fB\\-\\-svg\\fR", ".TP 7\n\\fB\\-\\-png\\fR"}});
  EXPECT_THAT(missing_from(page, command.arguments), ElementsAre("--svg"));
  bool target = false;
  EXPECT_THAT(missing_from(page_of(command), {cli::flag("--brief,-b", target, "less")}), ElementsAre("--brief", "-b"));
}

TEST(ManualPagesTest, OtherProgramsHavePagesWithEveryOption) {
  EXPECT_THAT(missing_from(file("man/man8/cablewayd.8"), cablewayd_command().arguments), IsEmpty());
  EXPECT_THAT(missing_from(file("man/man1/collperf.1"), collperf_command().arguments), IsEmpty());
}

TEST(ManualPagesTest, EverySettingIsInThePageOfTheFile) {
  const std::string page = file("man/man5/cableway.toml.5");
  for (const Setting& setting : all_settings()) {
    const std::string name = setting.key == "config" ? variable_of(setting) : std::string(setting.key);
    const std::size_t begin = page.find(absl::StrCat(".TP 7\n", tag(name, false), "\n"));
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string entry = page.substr(begin, page.find(".TP", begin + 3) - begin);
    EXPECT_THAT(entry, HasSubstr(tag(option_of(setting), false)));
    EXPECT_THAT(entry, HasSubstr(variable_of(setting)));
    EXPECT_THAT(entry, HasSubstr("Default: "));
    EXPECT_EQ(entry.find("SIGHUP") != std::string::npos, setting.reloads) << name;
  }
}

TEST(ManualPagesTest, EveryCodeIsInItsPage) {
  for (const EventKind& kind : event_kinds()) {
    const std::string entry =
        absl::StrCat(".TP 7\n", tag(std::string(kind.name), false), " (", std::string(name_of(kind.severity)), ")\n");
    EXPECT_THAT(file("man/man7/cableway-events.7"), HasSubstr(entry));
  }
  for (const cli::FindingKind& kind : cli::finding_kinds()) {
    const std::string entry = absl::StrCat(".TP 7\n", tag(std::string(kind.name), false), "\n");
    EXPECT_THAT(file("man/man7/cableway-findings.7"), HasSubstr(entry));
  }
}

TEST(ManualPagesTest, DocumentsAreTakenOver) {
  EXPECT_THAT(file("man/man1/cableway-doctor.1"), HasSubstr("does not read firewall rules"));
  EXPECT_THAT(file("man/man1/cableway-sim.1"), HasSubstr("total_GBps"));
  EXPECT_THAT(file("man/man5/cableway-topology.5"), HasSubstr("\\fBhypercube:D\\fR"));
  EXPECT_THAT(file("man/man5/cableway-topology.5"), HasSubstr("loss_percent = 5"));
  EXPECT_THAT(file("man/man5/cableway-plan.5"), HasSubstr("\\fBaddresses.json\\fR"));
  EXPECT_THAT(file("man/man5/cableway-mix.5"), HasSubstr("after = ["));
  EXPECT_THAT(file("man/man1/cableway-sim.1"), HasSubstr("cableway\\-mix"));
  EXPECT_THAT(file("man/man1/cableway-plan-addresses.1"), HasSubstr("cableway\\-plan\\fR(5)"));
  EXPECT_THAT(file("man/man7/cableway.7"), HasSubstr("NCCL_NET_PLUGIN=cableway"));
  EXPECT_THAT(file("man/man8/cablewayd.8"), HasSubstr("systemctl enable"));
}

TEST(ManualPagesTest, ALostHeadingIsNamed) {
  Documents without = documents();
  without.settings = parse_markdown(absl::StrReplaceAll(document("settings.md"), {{"## The key", "## Keys"}}));
  EXPECT_THAT(std::string(reference_files(without).status().message()),
              HasSubstr("docs/settings.md has no heading \"The key\""));
}

// The options that a completion does not have.
Names lacking(const std::string& completion, const cli::Command& command, const std::string& long_mark) {
  Names missing;
  for (const cli::Argument& argument : command.arguments) {
    if (argument.kind == cli::Argument::Kind::kPositional) continue;
    const std::string name = argument.name();
    if (completion.find(absl::StrCat(long_mark, name.substr(2))) == std::string::npos) missing.push_back(name);
  }
  return missing;
}

// The part of `text` from `begin` on, up to `end`.
std::string part(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << begin;
  return at == std::string::npos ? "" : text.substr(at, text.find(end, at) - at);
}

TEST(CompletionTest, EveryOptionOfEveryCommandIsCompletedInEachShell) {
  const std::string bash = file("bash-completion/completions/cableway");
  const std::string zsh = file("zsh/site-functions/_cableway");
  const std::string fish = file("fish/vendor_completions.d/cableway.fish");
  const cli::CommandSet set;
  for (const cli::Command& command : set.commands()) {
    const std::string line = part(bash, absl::StrCat("    '", command.name, "') options="), "\n");
    EXPECT_THAT(lacking(line, command, "--"), IsEmpty()) << command.name;
    const std::string function = absl::StrReplaceAll(command.name, {{" ", "_"}});
    EXPECT_THAT(lacking(part(zsh, absl::StrCat("\n_cableway_", function, "() {"), "\n}"), command, "--"), IsEmpty());
    const std::string lines = part(fish, absl::StrCat("_runs ", command.name, "'"), "\n\n");
    EXPECT_THAT(lacking(lines, command, "-l "), IsEmpty()) << command.name;
  }
  cli::Command planted{.name = "status", .summary = "", .examples = {}, .arguments = {}};
  bool target = false;
  planted.arguments = {cli::flag("--brief", target, "less")};
  EXPECT_THAT(lacking(part(bash, "    'status') options=", "\n"), planted, "--"), ElementsAre("--brief"));
}

}  // namespace
}  // namespace cableway::reference
