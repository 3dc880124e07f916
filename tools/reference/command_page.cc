#include "tools/reference/command_page.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "routing/text/absl_view.h"
#include "tools/reference/markdown.h"

namespace cableway::reference {
namespace {

using cli::Argument;
using routing::absl_view;

// No line is broken within it.
std::string unbroken(const std::string& text) {
  return absl::StrReplaceAll(text, {{" ", "\t"}});
}

// "--follow, -f", "--file TOPOLOGY", "A".
Spans tag_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::kPositional) return {italic(argument.names)};
  Spans tag;
  for (const absl::string_view name : absl::StrSplit(argument.names, ',')) {
    if (!tag.empty()) tag.push_back(plain(", "));
    tag.push_back(bold(std::string(name)));
  }
  if (!argument.value.empty()) {
    tag.push_back(plain(" "));
    tag.push_back(italic(argument.value));
  }
  return tag;
}

// "as JSON", and what else a reader has to know of it.
Spans text_of(const Argument& argument) {
  std::vector<std::string> sentences = {argument.meaning};
  if (!argument.default_value.empty()) sentences.push_back(absl::StrCat("Default: ", argument.default_value));
  if (argument.repeatable && argument.meaning.find("several times") == std::string::npos) {
    sentences.emplace_back("May be given several times");
  }
  Spans text = spans_of(absl::StrJoin(sentences, ". "), "");
  for (const std::string& other : argument.excludes) {
    text.push_back(plain(&other == &argument.excludes.front() ? ". Not with " : ", "));
    text.push_back(bold(other));
  }
  for (const std::string& other : argument.needs) {
    text.push_back(plain(&other == &argument.needs.front() ? ". Only with " : ", "));
    text.push_back(bold(other));
  }
  if (sentences.size() > 1 || !argument.excludes.empty() || !argument.needs.empty()) text.push_back(plain("."));
  return text;
}

}  // namespace

std::string page_name(const cli::Command& command) {
  return absl::StrCat("cableway-", absl::StrReplaceAll(command.name, {{" ", "-"}}));
}

void add_synopsis(RoffPage& page, std::string_view words, const std::vector<Argument>& arguments) {
  Spans line = {bold(unbroken(std::string(words)))};
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::kPositional) continue;
    line.push_back(plain(" ["));
    line.push_back(bold(argument.name()));
    if (!argument.value.empty()) {
      line.push_back(plain("\t"));
      line.push_back(italic(unbroken(argument.value)));
    }
    line.push_back(plain(argument.repeatable ? "]..." : "]"));
  }
  for (const Argument& argument : arguments) {
    if (argument.kind != Argument::Kind::kPositional) continue;
    line.push_back(plain(" "));
    line.push_back(italic(argument.names));
  }
  page.section("Synopsis");
  page.paragraph(line);
}

void add_arguments(RoffPage& page, const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) page.tagged(tag_of(argument), text_of(argument));
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

void add_paragraphs(RoffPage& page, std::string_view text) {
  for (const absl::string_view paragraph : absl::StrSplit(absl_view(text), "\n\n", absl::SkipEmpty())) {
    page.paragraph(spans_of({paragraph.data(), paragraph.size()}, page.reference()));
  }
}

void add_exit_statuses(RoffPage& page, const std::vector<cli::ExitMeaning>& statuses) {
  if (statuses.empty()) return;
  page.section("Exit status");
  for (const cli::ExitMeaning& each : statuses) {
    page.tagged({bold(absl::StrCat(each.status))}, {plain(each.meaning)});
  }
}

void add_examples(RoffPage& page, const std::vector<std::string>& examples) {
  if (examples.empty()) return;
  page.section("Examples");
  page.literal(examples);
}

void add_see_also(RoffPage& page, const std::vector<std::string>& pages) {
  page.section("See also");
  Spans list;
  for (const std::string& each : pages) {
    if (!list.empty()) list.push_back(plain(", "));
    const std::size_t open = each.find('(');
    list.push_back(bold(each.substr(0, open)));
    list.push_back(plain(each.substr(open)));
  }
  page.paragraph(list);
}

std::vector<cli::ExitMeaning> exit_statuses_of(const cli::Command& command, const cli::Program& program) {
  std::vector<cli::ExitMeaning> statuses = command.exit_statuses;
  for (const cli::ExitMeaning& each : program.exit_statuses) {
    const bool defined = std::any_of(statuses.begin(), statuses.end(),
                                     [&](const cli::ExitMeaning& own) { return own.status == each.status; });
    if (!defined) statuses.push_back(each);
  }
  std::sort(statuses.begin(), statuses.end(),
            [](const cli::ExitMeaning& a, const cli::ExitMeaning& b) { return a.status < b.status; });
  return statuses;
}

}  // namespace cableway::reference
