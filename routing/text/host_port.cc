#include "routing/text/host_port.h"

#include <charconv>
#include <system_error>

namespace cableway::routing {

std::optional<HostPort> parse_host_port(std::string_view text) {
  constexpr std::string_view kInName = ":[]";
  HostPort parsed;
  std::string_view rest;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    parsed.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    if (parsed.host.find(':') == std::string_view::npos || parsed.host.find('[') != std::string_view::npos) {
      return std::nullopt;
    }
  } else {
    parsed.host = text.substr(0, text.find_first_of(kInName));
    rest = text.substr(parsed.host.size());
    if (parsed.host.empty()) return std::nullopt;
  }
  if (rest.empty()) return parsed;
  if (rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (error != std::errc() || end != rest.data() + rest.size() || port == 0) return std::nullopt;
  parsed.port = port;
  return parsed;
}

}  // namespace cableway::routing
