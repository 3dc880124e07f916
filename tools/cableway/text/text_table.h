// Text in aligned columns, two spaces apart, below their headings, at most kTableColumns wide.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cableway::cli {

// What a table may take of a terminal. The same everywhere, so that output does not depend on the terminal.
inline constexpr std::size_t kTableColumns = 120;
// For a table in a file, of which nothing may be left out.
inline constexpr std::size_t kAnyColumns = static_cast<std::size_t>(-1);

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  // What happens to cells of a table that is too wide: all but those on the right lose characters, for which "..."
  // stands; prose goes on in the next line instead.
  enum class Fit { kCutEnd, kCutMiddle, kWrap };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    Fit fit = Fit::kCutEnd;
  };

  // `most`: of characters in a line.
  explicit TextTable(std::vector<Column> columns, std::size_t most = kTableColumns);

  // Precondition: as many cells as there are columns; also below. Cells may have colours of Paint.
  void add_row(std::vector<std::string> cells);

  // Lines without trailing spaces, each ending with a newline.
  std::string text() const;

  // For tables of many or long rows, which the caller does not want to hold: first widens the columns for every row,
  // then takes the heading and the rows one by one.
  void widen(const std::vector<std::string>& cells);
  std::string heading() const;
  std::string line(const std::vector<std::string>& cells) const;

 private:
  std::vector<std::size_t> fitting_widths() const;
  std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  const std::size_t most_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

// At most `width` characters of it; the rest is "...", at the end or in the middle.
std::string cut_end(const std::string& text, std::size_t width);
std::string cut_middle(const std::string& text, std::size_t width);

// Its lines of at most `width` characters, broken at spaces, and within words that are longer. Not empty.
std::vector<std::string> wrapped_lines(const std::string& text, std::size_t width);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
