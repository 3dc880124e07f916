#include "core/settings/http_address.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "routing/text/host_port.h"
#include "routing/topology/port_address.h"

namespace cableway {
namespace {

bool is_loopback(const routing::PortAddress& address) {
  if (!address.is_ipv6) return address.bytes[0] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; }) &&
         address.bytes.back() == 1;
}

}  // namespace

std::optional<HttpAddress> parse_http_address(std::string_view text) {
  const std::optional<routing::HostPort> given = routing::parse_host_port(text);
  if (!given || !given->port) return std::nullopt;
  const std::string_view literal = given->host;
  if (literal == "0.0.0.0" || literal == "::") return HttpAddress{std::string(literal), *given->port, false};
  const absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(literal);
  if (!address.ok() || !address->scope.empty()) return std::nullopt;
  return HttpAddress{routing::to_text(*address), *given->port, is_loopback(*address)};
}

std::string to_text(const HttpAddress& address) {
  const bool is_ipv6 = address.address.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? "[" : "", address.address, is_ipv6 ? "]:" : ":", address.port);
}

}  // namespace cableway
