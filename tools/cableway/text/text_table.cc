#include "tools/cableway/text/text_table.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "tools/cableway/text/paint.h"

namespace cableway::cli {
namespace {

constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kGap = 2;
// In which order columns give way, and how much each of them keeps.
struct GivesWay {
  bool is_prose;
  std::size_t least;
};
constexpr std::array<GivesWay, 8> kGivingWay = {
    {{true, 30}, {false, 20}, {true, 16}, {false, 11}, {true, 12}, {false, 8}, {true, 8}, {false, 4}}};

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
}

}  // namespace

std::string cut_end(const std::string& text, std::size_t width) {
  if (shown_width(text) <= width) return text;
  if (width <= kEllipsis.size()) return text.substr(0, width);
  return text.substr(0, width - kEllipsis.size()).append(kEllipsis);
}

std::string cut_middle(const std::string& text, std::size_t width) {
  if (shown_width(text) <= width) return text;
  if (width <= kEllipsis.size()) return text.substr(0, width);
  const std::size_t kept = width - kEllipsis.size();
  const std::size_t tail = kept / 2;
  return text.substr(0, kept - tail).append(kEllipsis).append(text.substr(text.size() - tail));
}

std::vector<std::string> wrapped_lines(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (rest.size() > width) {
    std::size_t at = rest.rfind(' ', width);
    const bool is_word = at == std::string_view::npos || at == 0;
    if (is_word) at = width;
    lines.emplace_back(rest.substr(0, at));
    rest.remove_prefix(is_word ? at : at + 1);
  }
  lines.emplace_back(rest);
  return lines;
}

TextTable::TextTable(std::vector<Column> columns, std::size_t most) : columns_(std::move(columns)), most_(most) {
  for (const Column& column : columns_) widths_.push_back(column.heading.size());
}

void TextTable::add_row(std::vector<std::string> cells) {
  widen(cells);
  rows_.push_back(std::move(cells));
}

void TextTable::widen(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < widths_.size(); ++i) widths_[i] = std::max(widths_[i], shown_width(cells[i]));
}

// Prose gives way first, then the widest of the other columns on the left, as far as there is something to take.
std::vector<std::size_t> TextTable::fitting_widths() const {
  std::vector<std::size_t> widths = widths_;
  const auto shrink = [&](bool prose, std::size_t least) {
    while (total(widths) > most_) {
      std::size_t widest = widths.size();
      std::size_t next = least;  // the widest but one
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (columns_[i].align == Align::kRight || (columns_[i].fit == Fit::kWrap) != prose || widths[i] <= least)
          continue;
        if (widest == widths.size() || widths[i] > widths[widest]) {
          if (widest != widths.size()) next = std::max(next, widths[widest]);
          widest = i;
        } else {
          next = std::max(next, widths[i]);
        }
      }
      if (widest == widths.size()) return;
      const std::size_t step = std::max<std::size_t>(1, widths[widest] - next);
      widths[widest] -= std::min({step, total(widths) - most_, widths[widest] - least});
    }
  };
  for (const GivesWay& step : kGivingWay) shrink(step.is_prose, step.least);
  return widths;
}

std::string TextTable::line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::vector<std::string> more(cells.size());
  bool goes_on = false;
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // What is cut would lose the end of its colour.
    std::string cell = shown_width(cells[i]) > widths[i] ? unpainted(cells[i]) : cells[i];
    if (columns_[i].fit == Fit::kWrap && shown_width(cell) > widths[i]) {
      const std::vector<std::string> lines = wrapped_lines(cell, widths[i]);
      const std::size_t taken = lines.front().size();
      more[i] = cell.substr(std::min(cell.size(), taken + (cell[taken] == ' ' ? 1 : 0)));
      goes_on = true;
      cell = lines.front();
    }
    cell = columns_[i].fit == Fit::kCutMiddle ? cut_middle(cell, widths[i]) : cut_end(cell, widths[i]);
    const std::string padding(widths[i] - std::min(widths[i], shown_width(cell)), ' ');
    if (i > 0) line.append(kGap, ' ');
    line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  line += "\n";
  return goes_on ? line + line_of(more, widths) : line;
}

std::string TextTable::heading() const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  return line(headings);
}

std::string TextTable::line(const std::vector<std::string>& cells) const {
  return line_of(cells, fitting_widths());
}

std::string TextTable::text() const {
  const std::vector<std::size_t> widths = fitting_widths();
  std::string text = heading();
  for (const auto& row : rows_) text += line_of(row, widths);
  return text;
}

}  // namespace cableway::cli
