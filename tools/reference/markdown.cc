#include "tools/reference/markdown.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/text/absl_view.h"

namespace cableway::reference {
namespace {

using routing::absl_view;
using Lines = std::vector<std::string>;

constexpr std::string_view kIndent = "    ";
// A first cell of a table that is longer is not a tag but text.
constexpr std::size_t kMaxTag = 40;

bool is_blank(std::string_view line) {
  return absl::StripAsciiWhitespace(absl_view(line)).empty();
}

int heading_level(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  return level == std::string_view::npos || line[level] != ' ' ? 0 : static_cast<int>(level);
}

// "| a | b \| c |" as {"a", "b | c"}. A bar within code is none.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '`') code = !code;
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|' && !code) {
      cells.emplace_back(absl::StripAsciiWhitespace(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

// Reads the lines of a document one block after the other.
class BlockReader {
 public:
  explicit BlockReader(std::string_view text) : lines_(absl::StrSplit(absl_view(text), '\n')) {}

  std::vector<Block> read() {
    while (at_ < lines_.size()) {
      const std::string& line = lines_[at_];
      if (is_blank(line) || absl::StartsWith(line, "<a id=")) {
        ++at_;
      } else if (const int level = heading_level(line); level > 0) {
        blocks_.push_back(
            {.kind = Block::Kind::kHeading, .level = level, .text = line.substr(static_cast<std::size_t>(level) + 1)});
        ++at_;
      } else if (absl::StartsWith(line, "```")) {
        read_fenced();
      } else if (absl::StartsWith(line, absl_view(kIndent))) {
        read_indented();
      } else if (line[0] == '|') {
        read_table();
      } else {
        read_text();
      }
    }
    return std::move(blocks_);
  }

 private:
  void read_fenced() {
    Block block{.kind = Block::Kind::kCode};
    for (++at_; at_ < lines_.size() && !absl::StartsWith(lines_[at_], "```"); ++at_) {
      block.lines.push_back(lines_[at_]);
    }
    ++at_;
    blocks_.push_back(std::move(block));
  }

  void read_indented() {
    Block block{.kind = Block::Kind::kCode};
    for (; at_ < lines_.size() && (is_blank(lines_[at_]) || absl::StartsWith(lines_[at_], absl_view(kIndent))); ++at_) {
      block.lines.push_back(is_blank(lines_[at_]) ? "" : lines_[at_].substr(kIndent.size()));
    }
    while (block.lines.back().empty()) block.lines.pop_back();
    blocks_.push_back(std::move(block));
  }

  void read_table() {
    Block block{.kind = Block::Kind::kTable};
    for (; at_ < lines_.size() && absl::StartsWith(lines_[at_], "|"); ++at_) {
      if (!absl::StartsWith(lines_[at_], "|-")) block.rows.push_back(cells_of(lines_[at_]));
    }
    blocks_.push_back(std::move(block));
  }

  // A paragraph or an item of a list, up to an empty line or the next item.
  void read_text() {
    const bool item = absl::StartsWith(lines_[at_], "- ");
    Block block{.kind = item ? Block::Kind::kItem : Block::Kind::kParagraph};
    if (item) lines_[at_].erase(0, 2);
    for (bool first = true; at_ < lines_.size() && !is_blank(lines_[at_]); ++at_, first = false) {
      const std::string line(absl::StripAsciiWhitespace(lines_[at_]));
      const bool other = line[0] == '|' || absl::StartsWith(line, "- ") || absl::StartsWith(line, "```");
      if (!first && (other || heading_level(line) > 0)) break;
      absl::StrAppend(&block.text, first ? "" : " ", line);
    }
    blocks_.push_back(std::move(block));
  }

  Lines lines_;
  std::size_t at_ = 0;
  std::vector<Block> blocks_;
};

// The manual page with the text of a document, or of a part of it; also by the links within its document.
struct PageOfDocument {
  std::string_view link;
  std::string_view page;
};
constexpr std::array<PageOfDocument, 6> kPages = {{{"cli.md#topologies", "cableway-topology(5)"},
                                                   {"#the-folder-of-a-plan", "cableway-plan(5)"},
                                                   {"#the-file-of-a-mix", "cableway-mix(5)"},
                                                   {"cli.md", "cableway(1)"},
                                                   {"settings.md#the-topology-file", "cableway-topology(5)"},
                                                   {"settings.md", "cableway.toml(5)"}}};
constexpr std::string_view kFindings = "findings.md";

// What a reader of a page finds the target of a link by; empty: it is on the same page.
std::string place_of(std::string_view link) {
  if (absl::StartsWith(absl_view(link), "http")) return std::string(link);
  if (absl::StartsWith(absl_view(link), absl_view(kFindings))) return "cableway-events(7)";
  for (const PageOfDocument& each : kPages) {
    if (link == each.link) return std::string(each.page);
  }
  if (absl::StartsWith(absl_view(link), "#")) return "";
  return absl::StrCat("docs/", absl_view(link.substr(0, link.find('#'))));
}

struct Link {
  std::string_view text;
  std::string_view to;
  std::size_t size;  // of its Markdown
};

// The link at the start of `markdown`, if there is one.
std::optional<Link> link_at(std::string_view markdown) {
  const std::size_t middle = markdown.find("](");
  if (markdown[0] != '[' || middle == std::string_view::npos) return std::nullopt;
  const std::size_t end = markdown.find(')', middle);
  if (end == std::string_view::npos || markdown.substr(1, middle - 1).find('[') != std::string_view::npos) {
    return std::nullopt;
  }
  return Link{markdown.substr(1, middle - 1), markdown.substr(middle + 2, end - middle - 2), end + 1};
}

// The text between two marks at the start of `markdown`; nullopt if it does not begin with one that is closed.
std::optional<std::string_view> between(std::string_view markdown, std::string_view mark) {
  if (markdown.substr(0, mark.size()) != mark) return std::nullopt;
  const std::size_t end = markdown.find(mark, mark.size());
  if (end == std::string_view::npos || end == mark.size()) return std::nullopt;
  return markdown.substr(mark.size(), end - mark.size());
}

void append(Spans& spans, Spans more) {
  spans.insert(spans.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// "[decision](decisions/0020.md)" as "decision (docs/decisions/0020.md)"; in parentheses already, with a comma.
void append_link(Spans& spans, const Link& link, std::string_view own, bool in_parentheses) {
  append(spans, spans_of(link.text, own));
  const std::string place = place_of(link.to);
  if (place.empty() || place == own) return;
  spans.push_back(plain(in_parentheses ? absl::StrCat(": ", place) : absl::StrCat(" (", place, ")")));
}

void add_row(RoffPage& page, const std::vector<std::string>& header, const std::vector<std::string>& row) {
  Spans text;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i].empty() || row[i] == "-") continue;
    if (!text.empty()) text.push_back(plain("; "));
    if (row.size() > 2 && i < header.size() && !header[i].empty()) text.push_back(plain(absl::StrCat(header[i], ": ")));
    append(text, spans_of(row[i], page.reference()));
  }
  Spans tag = spans_of(row.empty() ? "" : row[0], page.reference());
  if (!row.empty() && row[0].size() <= kMaxTag) return page.tagged(tag, text);
  if (!text.empty()) tag.push_back(plain(": "));
  append(tag, std::move(text));
  page.bullet(tag);
}

}  // namespace

std::vector<Block> parse_markdown(std::string_view text) {
  return BlockReader(text).read();
}

absl::StatusOr<std::vector<Block>> blocks_below(const std::vector<Block>& blocks, std::string_view heading,
                                                std::string_view file) {
  const auto begin = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
    return block.kind == Block::Kind::kHeading && block.text == heading;
  });
  if (begin == blocks.end()) {
    return absl::NotFoundError(absl::StrCat(absl_view(file), " has no heading \"", absl_view(heading),
                                            "\": tools/reference takes a part of a manual page from there"));
  }
  const auto end = std::find_if(begin + 1, blocks.end(), [&](const Block& block) {
    return block.kind == Block::Kind::kHeading && block.level <= begin->level;
  });
  return std::vector<Block>(begin + 1, end);
}

bool has_header(const Block& block, std::string_view first) {
  return block.kind == Block::Kind::kTable && !block.rows.empty() && !block.rows[0].empty() &&
         block.rows[0][0] == first;
}

Spans spans_of(std::string_view markdown, std::string_view own) {
  Spans spans;
  std::string text;
  int parentheses = 0;
  const auto end_text = [&] {
    if (!text.empty()) spans.push_back(plain(std::exchange(text, "")));
  };
  while (!markdown.empty()) {
    if (const auto code = between(markdown, "`")) {
      end_text();
      spans.push_back(bold(std::string(*code)));
      markdown.remove_prefix(code->size() + 2);
    } else if (const auto strong = between(markdown, "**")) {
      end_text();
      for (Span& span : spans_of(*strong, own)) spans.push_back(bold(std::move(span.text)));
      markdown.remove_prefix(strong->size() + 4);
    } else if (const auto link = link_at(markdown)) {
      end_text();
      append_link(spans, *link, own, parentheses > 0);
      markdown.remove_prefix(link->size);
    } else {
      parentheses += markdown[0] == '(' ? 1 : markdown[0] == ')' ? -1 : 0;
      text += markdown[0];
      markdown.remove_prefix(1);
    }
  }
  end_text();
  return spans;
}

void add_blocks(RoffPage& page, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    switch (block.kind) {
      case Block::Kind::kHeading:
        page.subsection(block.text);
        break;
      case Block::Kind::kParagraph:
        page.paragraph(spans_of(block.text, page.reference()));
        break;
      case Block::Kind::kItem:
        page.bullet(spans_of(block.text, page.reference()));
        break;
      case Block::Kind::kCode:
        page.literal(block.lines);
        break;
      case Block::Kind::kTable:
        for (std::size_t i = 1; i < block.rows.size(); ++i) add_row(page, block.rows[0], block.rows[i]);
        break;
    }
  }
}

}  // namespace cableway::reference
