// Pages about files, events, findings and jobs.
#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/event/event_code.h"
#include "core/settings/settings.h"
#include "core/settings/settings_table.h"
#include "routing/text/absl_view.h"
#include "tools/cableway/doctor/finding_code.h"
#include "tools/reference/command_page.h"
#include "tools/reference/manual_pages.h"

namespace cableway::reference {
namespace {

using routing::absl_view;
using Blocks = std::vector<Block>;
using MaybeFile = absl::StatusOr<ReferenceFile>;

constexpr char kSettingsFile[] = "docs/settings.md";
constexpr char kFindingsFile[] = "docs/findings.md";

// A document's blocks before its first heading below the title.
Blocks opening_of(const Blocks& document) {
  const auto is_section = [](const Block& block) { return block.kind == Block::Kind::kHeading && block.level > 1; };
  const auto begin = document.begin() + (document.empty() ? 0 : 1);
  return {begin, std::find_if(begin, document.end(), is_section)};
}

void add_code(RoffPage& page, std::string_view name, std::string_view kind, std::string_view meaning,
              std::string_view advice) {
  page.tagged({bold(std::string(name)), plain(std::string(kind))}, {plain(std::string(meaning))});
  if (advice != "-") page.indented_paragraph({plain(absl::StrCat("What to do: ", absl_view(advice)))});
}

void add_setting(RoffPage& page, const Setting& setting) {
  const bool in_file = setting.key != "config";
  page.tagged({bold(in_file ? std::string(setting.key) : variable_of(setting))},
              {plain(absl::StrCat(absl_view(setting.meaning), "."))});
  std::string value = setting.default_note.empty() ? setting.show(Settings{}) : std::string(setting.default_note);
  Spans details = {plain(absl::StrCat("Takes ", expected_of(setting), ". Default: ", value, ". "))};
  if (in_file) {
    details.push_back(bold(variable_of(setting)));
    details.push_back(plain(", "));
  }
  details.push_back(bold(option_of(setting)));
  details.push_back(plain(setting.reloads ? ". A running node adopts a change (SIGHUP)." : "."));
  page.indented_paragraph(details);
}

MaybeFile settings_page(const std::string& version, const Blocks& document) {
  const absl::StatusOr<Blocks> file = blocks_below(document, "The settings file", kSettingsFile);
  if (!file.ok()) return file.status();
  const absl::StatusOr<Blocks> key = blocks_below(document, "The key", kSettingsFile);
  if (!key.ok()) return key.status();
  RoffPage page({"cableway.toml", 5, version, "settings of Cableway's nodes, jobs and commands"});
  page.section("Description");
  for (const Block& block : opening_of(document)) {
    if (!has_header(block, "variable")) add_blocks(page, {block});
  }
  page.section("The file");
  add_blocks(page, *file);
  page.section("Settings");
  for (const Setting& setting : all_settings()) add_setting(page, setting);
  page.section("The key");
  add_blocks(page, *key);
  page.section("Files");
  page.tagged({bold("/etc/cableway/cableway.toml")}, {plain(std::string(find_setting("config")->meaning))});
  add_see_also(page, {"cablewayd(8)", "cableway(1)", "cableway(7)"});
  return ReferenceFile{page.path(), page.text()};
}

MaybeFile topology_page(const std::string& version, const Documents& documents) {
  const absl::StatusOr<Blocks> file = blocks_below(documents.settings, "The topology file", kSettingsFile);
  if (!file.ok()) return file.status();
  const absl::StatusOr<Blocks> forms = blocks_below(documents.command_line, "Topologies", "docs/cli.md");
  if (!forms.ok()) return forms.status();
  RoffPage page({"cableway-topology", 5, version, "files and shapes that describe a cluster"});
  page.section("Description");
  add_blocks(page, *forms);
  page.section("The topology file");
  add_blocks(page, *file);
  add_see_also(page, {"cableway(1)", "cableway-topology(1)", "cableway-sim(1)"});
  return ReferenceFile{page.path(), page.text()};
}

// A page about files that a part of docs/cli.md describes.
MaybeFile file_page(const PageTitle& title, std::string_view heading, const Blocks& document,
                    const std::vector<std::string>& see_also) {
  const absl::StatusOr<Blocks> file = blocks_below(document, heading, "docs/cli.md");
  if (!file.ok()) return file.status();
  RoffPage page(title);
  page.section("Description");
  add_blocks(page, *file);
  add_see_also(page, see_also);
  return ReferenceFile{page.path(), page.text()};
}

MaybeFile plan_page(const std::string& version, const Blocks& document) {
  return file_page({"cableway-plan", 5, version, "the files of a plan of a cluster's addresses"},
                   "The folder of a plan", document,
                   {"cableway-plan-addresses(1)", "cableway-up(1)", "cableway-topology(5)"});
}

MaybeFile mix_page(const std::string& version, const Blocks& document) {
  return file_page({"cableway-mix", 5, version, "workloads that cableway sim runs together"}, "The file of a mix",
                   document, {"cableway-sim(1)", "collperf(1)"});
}

MaybeFile events_page(const std::string& version, const Blocks& document) {
  const absl::StatusOr<Blocks> events = blocks_below(document, "Events", kFindingsFile);
  if (!events.ok()) return events.status();
  RoffPage page({"cableway-events", 7, version, "codes of what happens to a node"});
  page.section("Description");
  add_blocks(page, opening_of(document));
  for (const Block& block : *events) {
    if (!has_header(block, "code")) add_blocks(page, {block});
  }
  page.section("Events");
  for (const EventKind& kind : event_kinds()) {
    add_code(page, kind.name, absl::StrCat(" (", absl_view(name_of(kind.severity)), ")"), kind.meaning, kind.advice);
  }
  add_see_also(page, {"cableway-events(1)", "cableway-status(1)", "cableway-findings(7)", "cablewayd(8)"});
  return ReferenceFile{page.path(), page.text()};
}

MaybeFile findings_page(const std::string& version, const Blocks& document) {
  const absl::StatusOr<Blocks> doctor = blocks_below(document, "Doctor", kFindingsFile);
  if (!doctor.ok()) return doctor.status();
  RoffPage page({"cableway-findings", 7, version, "codes of what cableway doctor finds"});
  page.section("Description");
  for (const Block& block : *doctor) {
    const bool listed_below = has_header(block, "code") && block.rows[0].size() > 1 && block.rows[0][1] == "meaning";
    if (!listed_below) add_blocks(page, {block});
  }
  page.section("Findings");
  for (const cli::FindingKind& kind : cli::finding_kinds()) add_code(page, kind.name, "", kind.meaning, kind.advice);
  add_see_also(page, {"cableway-doctor(1)", "cableway-events(7)"});
  return ReferenceFile{page.path(), page.text()};
}

MaybeFile job_page(const std::string& version, const Blocks& document) {
  const absl::StatusOr<Blocks> job = blocks_below(document, "A job", kSettingsFile);
  if (!job.ok()) return job.status();
  RoffPage page({"cableway", 7, version, "NCCL jobs over directly cabled hosts"});
  page.section("A job");
  add_blocks(page, *job);
  add_see_also(page, {"cableway-env(1)", "cableway-doctor(1)", "cablewayd(8)", "cableway.toml(5)"});
  return ReferenceFile{page.path(), page.text()};
}

}  // namespace

absl::StatusOr<std::vector<ReferenceFile>> pages_of_topics(const std::string& version, const Documents& documents) {
  std::vector<ReferenceFile> pages;
  for (MaybeFile page : {settings_page(version, documents.settings), topology_page(version, documents),
                         plan_page(version, documents.command_line), mix_page(version, documents.command_line),
                         events_page(version, documents.findings), findings_page(version, documents.findings),
                         job_page(version, documents.settings)}) {
    if (!page.ok()) return page.status();
    pages.push_back(*std::move(page));
  }
  return pages;
}

}  // namespace cableway::reference
