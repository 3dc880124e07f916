#include "routing/topology_io/grid_drawing.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cableway::routing {
namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kDashes = 2;     // on each side of a label
constexpr std::size_t kBarOffset = 1;  // a vertical link hangs below the second character of a label

void put(std::string& line, std::size_t column, std::string_view text) {
  if (line.size() < column + text.size()) line.resize(column + text.size(), ' ');
  std::copy(text.begin(), text.end(), line.begin() + static_cast<std::ptrdiff_t>(column));
}

std::size_t centred(std::size_t begin, std::size_t end, std::size_t length) {
  return begin + (end - begin - std::min(end - begin, length)) / 2;
}

}  // namespace

GridDrawing::GridDrawing(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), cells_(rows * columns) {}

void GridDrawing::set_node(std::size_t row, std::size_t column, std::string label) {
  cell(row, column).label = std::move(label);
}

void GridDrawing::set_corner(std::size_t row, std::size_t column) {
  cell(row, column).label = '+';
  cell(row, column).is_corner = true;
}

void GridDrawing::link_right(std::size_t row, std::size_t column, Link link) {
  cell(row, column).is_linked_right = true;
  cell(row, column).right = std::move(link);
}

void GridDrawing::link_down(std::size_t row, std::size_t column, Link link) {
  cell(row, column).is_linked_down = true;
  cell(row, column).down = std::move(link);
}

void GridDrawing::cross() {
  is_crossed_ = true;
}

std::size_t GridDrawing::label_width(std::size_t column) const {
  std::size_t width = kBarOffset + 1;
  for (std::size_t row = 0; row < rows_; ++row) width = std::max(width, cell(row, column).label.size());
  return width;
}

std::size_t GridDrawing::down_label_width(std::size_t column) const {
  std::size_t width = 1;
  for (std::size_t row = 0; row < rows_; ++row) width = std::max(width, cell(row, column).down.label.size());
  return width;
}

// Room for the labels of the links to the right, and to separate the labels below this column and the next.
std::size_t GridDrawing::gap_after(std::size_t column) const {
  std::size_t gap = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    if (!cell(row, column).is_linked_right) continue;
    gap = std::max(gap, cell(row, column).right.label.size() + 2 * kDashes + 2);
  }
  const std::size_t apart = (down_label_width(column) + down_label_width(column + 1)) / 2 + 2;
  return std::max(gap, apart - std::min(apart, label_width(column)));
}

std::vector<std::size_t> GridDrawing::column_starts() const {
  std::vector<std::size_t> starts = {kMargin + down_label_width(0) / 2};
  for (std::size_t column = 0; column + 1 < columns_; ++column) {
    starts.push_back(starts.back() + label_width(column) + gap_after(column));
  }
  return starts;
}

std::size_t GridDrawing::width() const {
  const std::size_t last = columns_ - 1;
  return column_starts()[last] + std::max(label_width(last), kBarOffset + down_label_width(last) / 2 + 1);
}

std::size_t GridDrawing::height_below(std::size_t row, const std::vector<std::size_t>& starts) const {
  if (is_crossed_) return (starts[1] - starts[0]) / 2 - 1;  // diagonals advance two columns per line
  for (std::size_t column = 0; column < columns_; ++column) {
    if (!cell(row, column).down.label.empty()) return 3;
  }
  return 1;
}

void GridDrawing::draw_row(std::size_t row, const std::vector<std::size_t>& starts, Lines& lines) const {
  std::string& line = lines.emplace_back();
  for (std::size_t column = 0; column < columns_; ++column) {
    const Cell& here = cell(row, column);
    const std::size_t start = starts[column] + (here.is_corner ? kBarOffset : 0);
    put(line, start, here.label);
    if (!here.is_linked_right) continue;
    const std::size_t begin = start + here.label.size() + (here.is_corner ? 0 : 1);
    const std::size_t end = starts[column + 1] - 1;
    put(line, begin, std::string(end - begin, here.right.several ? '=' : '-'));
    put(line, centred(begin, end, here.right.label.size()), here.right.label);
  }
}

void GridDrawing::draw_below(std::size_t row, const std::vector<std::size_t>& starts, std::size_t height,
                             Lines& lines) const {
  const std::size_t first = lines.size();
  lines.resize(first + height);
  if (is_crossed_) {
    const std::size_t pitch = starts[1] - starts[0];
    for (std::size_t i = 0; i < height; ++i) {
      const std::size_t step = ((i + 1) * pitch + (height + 1) / 2) / (height + 1);
      const bool is_middle = 2 * step == pitch;
      put(lines[first + i], starts[0] + kBarOffset + step, is_middle ? "X" : "\\");
      put(lines[first + i], starts[1] + kBarOffset - step, is_middle ? "X" : "/");
    }
  }
  for (std::size_t column = 0; column < columns_; ++column) {
    const Cell& here = cell(row, column);
    if (!here.is_linked_down) continue;
    const std::size_t bar = starts[column] + kBarOffset;
    for (std::size_t i = 0; i < height; ++i) put(lines[first + i], bar, here.down.several ? "||" : "|");
    const std::string& label = here.down.label;
    if (label.empty()) continue;
    std::string& middle = lines[first + height / 2];
    if (here.down.several) put(middle, bar, "  ");
    put(middle, bar - label.size() / 2, label);
  }
}

std::string GridDrawing::text() const {
  const std::vector<std::size_t> starts = column_starts();
  Lines lines;
  for (std::size_t row = 0; row < rows_; ++row) {
    draw_row(row, starts, lines);
    if (row + 1 < rows_) draw_below(row, starts, height_below(row, starts), lines);
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace cableway::routing
