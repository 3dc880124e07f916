// Text in aligned columns, two spaces apart, below their headings.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cableway::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Precondition: as many cells as there are columns.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Lines without trailing spaces, each ending with a newline.
  std::string text() const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_TEXT_TABLE_H_
