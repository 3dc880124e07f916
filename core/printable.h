// Makes untrusted text safe to show in a log or a terminal.
#ifndef CABLEWAY_CORE_PRINTABLE_H_
#define CABLEWAY_CORE_PRINTABLE_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace cableway {

// Replaces every byte that is not printable ASCII by a question mark. What is beyond `most` bytes is left out.
inline std::string printable(std::string_view text, std::size_t most = std::string_view::npos) {
  std::string shown(text.substr(0, most));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_PRINTABLE_H_
