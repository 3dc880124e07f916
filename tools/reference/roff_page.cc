#include "tools/reference/roff_page.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cableway::reference {
namespace {

// Longer words get places where a line may be broken: most pages are read in 80 columns.
constexpr std::size_t kLongWord = 24;
constexpr std::size_t kLiteralColumns = 68;

bool is_word(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c));
}

// Whether the hyphens of this word, which has no spaces, are minus signs: "--json", "memlock=-1", "lib/x-y.so".
bool has_minuses(std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '/' || word[i] == '_' || word[i] == '=' || word[i] == '@') return true;
    if (word[i] != '-') continue;
    if (i == 0 || i + 1 == word.size() || !is_word(word[i - 1]) || !is_word(word[i + 1])) return true;
  }
  return false;
}

enum class Breaks { kNone, kInLongWords };

std::string escaped_word(std::string_view word, bool minuses, Breaks breaks) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    switch (c) {
      case '\\':
        text += "\\e";
        break;
      case '-':
        text += minuses ? "\\-" : "-";
        break;
      case '\'':
        text += "\\(aq";
        break;
      case '`':
        text += "\\(ga";
        break;
      case '\t':
        text += "\\ ";
        break;
      case '^':
        text += "\\(ha";
        break;
      case '~':
        text += "\\(ti";
        break;
      default:
        text += c;
    }
    const bool breakable = c == '/' || c == '|' || c == ',' || c == '=' || c == ':';
    if (breaks == Breaks::kInLongWords && breakable && i > 0 && word.size() > kLongWord && i + 1 < word.size())
      text += "\\:";
  }
  return text;
}

// A period or an apostrophe at the start of a line would be a request.
std::string guarded(std::string roff) {
  const bool request = !roff.empty() && (roff[0] == '.' || roff[0] == '\'');
  return request ? absl::StrCat("\\&", roff) : roff;
}

// Puts words into lines of at most kLiteralColumns, but at least one word each; every line but the first begins with
// `begin`, and every one but the last ends in `end`.
std::vector<std::string> wrapped(const std::vector<std::string>& words, const std::string& begin,
                                 const std::string& end) {
  std::vector<std::string> lines = {words.front()};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (lines.back().size() + 1 + words[i].size() + end.size() <= kLiteralColumns) {
      absl::StrAppend(&lines.back(), " ", words[i]);
    } else {
      absl::StrAppend(&lines.back(), end);
      lines.push_back(absl::StrCat(begin, words[i]));
    }
  }
  return lines;
}

// The words of a command, each option with its value.
std::vector<std::string> command_words(const std::string& command) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(command, ' ')) {
    const bool value =
        !words.empty() && absl::StartsWith(words.back(), "--") && words.back().find(' ') == std::string::npos;
    if (value && !absl::StartsWith(word, "-")) {
      absl::StrAppend(&words.back(), " ", word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

// A line of commands or of a file as lines of at most kLiteralColumns, where that is possible without another meaning.
std::vector<std::string> folded(const std::string& line) {
  const std::size_t text = line.find_first_not_of(' ');
  if (line.size() <= kLiteralColumns || text == std::string::npos) return {line};
  if (line[text] == '#') return wrapped(absl::StrSplit(line, ' '), absl::StrCat(line.substr(0, text), "# "), "");
  const std::size_t comment = line.find(" # ");
  const std::string statement(absl::StripTrailingAsciiWhitespace(line.substr(0, comment)));
  if (std::count(statement.begin(), statement.end(), '"') % 2 != 0) return {line};
  if (comment == std::string::npos) {
    const bool command = absl::StartsWith(line, "cableway ") && line.find_first_of("'\"") == std::string::npos;
    return command ? wrapped(command_words(line), "    ", " \\") : std::vector<std::string>{line};
  }
  std::vector<std::string> lines = folded(absl::StrCat(line.substr(0, text), line.substr(comment + 1)));
  lines.push_back(statement);
  return lines;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return line;
}

}  // namespace

std::string roff_escaped(std::string_view text, Hyphens hyphens) {
  std::string escaped;
  for (const absl::string_view word : absl::StrSplit(absl::string_view(text.data(), text.size()), ' ')) {
    const std::string_view view(word.data(), word.size());
    const bool minuses = hyphens == Hyphens::kMinuses || has_minuses(view);
    absl::StrAppend(&escaped, word.data() == text.data() ? "" : " ", escaped_word(view, minuses, Breaks::kInLongWords));
  }
  return escaped;
}

RoffPage::RoffPage(const PageTitle& title)
    : reference_(absl::StrCat(title.name, "(", title.section, ")")),
      path_(absl::StrCat("man/man", title.section, "/", title.name, ".", title.section)) {
  line(absl::StrCat(".TH ", roff_escaped(absl::AsciiStrToUpper(title.name), Hyphens::kMinuses), " ", title.section,
                    " \"\" \"Cableway ", roff_escaped(title.version, Hyphens::kMinuses), "\" \"Cableway\""));
  // Neither adjusted nor hyphenated: much of the text is names, which readers copy.
  line(".ad l");
  line(".nh");
  section("Name");
  line(absl::StrCat(roff_escaped(title.name, Hyphens::kMinuses), " \\- ",
                    roff_escaped(one_line(title.summary), Hyphens::kByWord)));
}

void RoffPage::section(std::string_view name) {
  const std::string upper = absl::AsciiStrToUpper(absl::string_view(name.data(), name.size()));
  line(absl::StrCat(".SH ", roff_escaped(upper, Hyphens::kByWord)));
  after_heading_ = true;
}

void RoffPage::subsection(std::string_view name) {
  line(absl::StrCat(".SS ", roff_escaped(name, Hyphens::kByWord)));
  after_heading_ = true;
}

void RoffPage::paragraph(const Spans& text) {
  if (!after_heading_) line(".PP");
  spans(text);
}

void RoffPage::indented_paragraph(const Spans& text) {
  line(".IP \"\" 7");
  spans(text);
}

void RoffPage::tagged(const Spans& tag, const Spans& text) {
  line(".TP 7");
  spans(tag);
  spans(text);
}

void RoffPage::bullet(const Spans& text) {
  line(".IP \\(bu 2");
  spans(text);
}

void RoffPage::literal(const std::vector<std::string>& lines) {
  if (!after_heading_) line(".PP");
  line(".RS 4");
  line(".nf");
  for (const std::string& each : lines) {
    for (const std::string& part : folded(each)) line(guarded(escaped_word(part, true, Breaks::kNone)));
  }
  line(".fi");
  line(".RE");
}

void RoffPage::line(const std::string& roff) {
  absl::StrAppend(&text_, roff, "\n");
  after_heading_ = false;
}

void RoffPage::spans(const Spans& spans) {
  std::string roff;
  for (const Span& span : spans) {
    const bool is_plain = span.font == Span::Font::kPlain;
    const std::string escaped = roff_escaped(one_line(span.text), is_plain ? Hyphens::kByWord : Hyphens::kMinuses);
    if (escaped.empty()) continue;
    if (is_plain) {
      absl::StrAppend(&roff, escaped);
    } else {
      absl::StrAppend(&roff, span.font == Span::Font::kBold ? "\\fB" : "\\fI", escaped, "\\fR");
    }
  }
  line(guarded(roff.empty() ? "\\&" : std::string(absl::StripLeadingAsciiWhitespace(roff))));
}

}  // namespace cableway::reference
