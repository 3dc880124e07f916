// Text in aligned columns, two spaces apart, below their headings.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cableway::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns);

  // Precondition: as many cells as there are columns; also below.
  void add_row(std::vector<std::string> cells);

  // Lines without trailing spaces, each ending with a newline.
  std::string text() const;

  // For tables of many or long rows, which the caller does not want to hold: first widens the columns for every row,
  // then takes the heading and the rows one by one.
  void widen(const std::vector<std::string>& cells);
  std::string heading() const;
  std::string line(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
