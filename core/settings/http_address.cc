#include "core/settings/http_address.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "routing/topology/port_address.h"

namespace cableway {
namespace {

bool is_loopback(const routing::PortAddress& address) {
  if (!address.is_ipv6) return address.bytes[0] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; }) &&
         address.bytes.back() == 1;
}

std::optional<std::uint16_t> tcp_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<HttpAddress> parse_http_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint16_t> port = tcp_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  std::string_view literal = text.substr(0, colon);
  const bool in_brackets = literal.size() > 2 && literal.front() == '[' && literal.back() == ']';
  if (in_brackets) literal = literal.substr(1, literal.size() - 2);
  const bool is_ipv6 = literal.find(':') != std::string_view::npos;
  if (is_ipv6 != in_brackets) return std::nullopt;
  if (literal == "0.0.0.0" || literal == "::") return HttpAddress{std::string(literal), *port, false};
  const absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(literal);
  if (!address.ok() || !address->scope.empty()) return std::nullopt;
  return HttpAddress{routing::to_text(*address), *port, is_loopback(*address)};
}

std::string to_text(const HttpAddress& address) {
  const bool is_ipv6 = address.address.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? "[" : "", address.address, is_ipv6 ? "]:" : ":", address.port);
}

}  // namespace cableway
