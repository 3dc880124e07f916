#include "routing/text/ssh_host.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace cableway::routing {

bool is_ssh_host(std::string_view text) {
  constexpr std::size_t kLongest = 255;
  constexpr std::string_view kOthers = "._-@:%";
  if (text.empty() || text.size() > kLongest || text.front() == '-' || text.front() == '@') return false;
  if (text.back() == '@' || std::ranges::count(text, '@') > 1) return false;
  // A user after which the host begins with a hyphen is no option of ssh, but no host either.
  if (text.find("@-") != std::string_view::npos) return false;
  return std::ranges::all_of(text, [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kOthers.find(c) != std::string_view::npos;
  });
}

}  // namespace cableway::routing
