// How often a text has a part.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_SIM_PART_COUNT_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_SIM_PART_COUNT_H_

#include <cstddef>
#include <string>

namespace cableway::cli {

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_SIM_PART_COUNT_H_
