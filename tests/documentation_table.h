// Tables of the documentation, for tests that compare them with the code.
#ifndef CABLEWAY_TESTS_DOCUMENTATION_TABLE_H_
#define CABLEWAY_TESTS_DOCUMENTATION_TABLE_H_

#include <fstream>
#include <string>
#include <vector>

namespace cableway::test {

// The rows, as in the file, of the table with this header line.
inline std::vector<std::string> documented_rows(const std::string& file, const std::string& heading) {
  std::ifstream stream(file);
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (inside && !line.starts_with("|")) break;
    if (inside && !line.starts_with("|-")) rows.push_back(line);
    inside = inside || line == heading;
  }
  return rows;
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_DOCUMENTATION_TABLE_H_
