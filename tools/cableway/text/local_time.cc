#include "tools/cableway/text/local_time.h"

#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>

namespace cableway::cli {

std::string local_time_text(const std::string& rfc3339) {
  std::tm utc{};
  const char* const rest = ::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr) return rfc3339;
  std::string_view fraction = rest;
  if (fraction.empty() || fraction.back() != 'Z') return rfc3339;
  fraction.remove_suffix(1);
  const std::time_t seconds = ::timegm(&utc);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return rfc3339;
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text.data(), length).append(fraction);
}

}  // namespace cableway::cli
