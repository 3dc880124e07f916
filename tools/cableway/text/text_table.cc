#include "tools/cableway/text/text_table.h"

#include <algorithm>
#include <utility>

namespace cableway::cli {

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(column.heading.size());
}

void TextTable::add_row(std::vector<std::string> cells) {
  widen(cells);
  rows_.push_back(std::move(cells));
}

void TextTable::widen(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < widths_.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
}

std::string TextTable::heading() const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  return line(headings);
}

std::string TextTable::line(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths_[i] - cells[i].size(), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].align == Align::kLeft ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string TextTable::text() const {
  std::string text = heading();
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace cableway::cli
