#include "core/port_selector.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

int bits_of(const routing::PortAddress& address) {
  return address.is_ipv6 ? 128 : 32;
}

// As parse_port_address(), and the address of a prefix that holds every other.
std::optional<routing::PortAddress> parse_network(std::string_view text) {
  if (text == "0.0.0.0") return routing::PortAddress{};
  if (text == "::") return routing::PortAddress{.is_ipv6 = true, .bytes = {}, .scope = ""};
  absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(text);
  if (!address.ok() || !address->scope.empty()) return std::nullopt;
  return *std::move(address);
}

std::optional<PortPrefix> parse_prefix(std::string_view network, std::string_view length) {
  std::optional<routing::PortAddress> address = parse_network(network);
  if (!address) return std::nullopt;
  int bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  const bool whole = error == std::errc() && end == length.data() + length.size();
  if (!whole || bits < 0 || bits > bits_of(*address)) return std::nullopt;
  return PortPrefix{*std::move(address), static_cast<std::uint8_t>(bits)};
}

bool contains(const PortPrefix& prefix, const routing::PortAddress& address) {
  if (prefix.address.is_ipv6 != address.is_ipv6) return false;
  const std::size_t whole = prefix.prefix_length / 8U;
  const std::size_t rest = prefix.prefix_length % 8U;
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + whole, prefix.address.bytes.begin())) return false;
  if (rest == 0) return true;
  const unsigned mask = 0xff00U >> rest;
  return ((address.bytes[whole] ^ prefix.address.bytes[whole]) & mask & 0xffU) == 0;
}

}  // namespace

std::optional<PortSelector> parse_port_selector(std::string_view text) {
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    std::optional<PortPrefix> prefix = parse_prefix(text.substr(0, slash), text.substr(slash + 1));
    if (!prefix) return std::nullopt;
    return PortSelector{.interface = "", .prefix = *std::move(prefix)};
  }
  if (!routing::is_valid_interface_name(text) || parse_network(text)) return std::nullopt;
  return PortSelector{.interface = std::string(text), .prefix = {}};
}

std::string to_text(const PortSelector& selector) {
  if (!selector.interface.empty()) return selector.interface;
  const routing::PortAddress& address = selector.prefix.address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.is_ipv6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
  return absl::StrCat(text.data(), "/", selector.prefix.prefix_length);
}

bool selects(const PortSelector& selector, const PortFacts& port) {
  if (!selector.interface.empty()) return selector.interface == port.interface;
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const PortPrefix& own) { return contains(selector.prefix, own.address); });
}

}  // namespace cableway
