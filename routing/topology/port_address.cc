#include "routing/topology/port_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

absl::Status bad_address(std::string_view text, const char* why, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat("address ", in_quotes(text), " ", why, "; expected ", expected));
}

// inet_pton() stops at a zero byte; only these characters may reach it.
bool has_only_address_characters(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c)) || c == '.' || c == ':';
  });
}

bool is_unspecified(const PortAddress& address) {
  return std::all_of(address.bytes.begin(), address.bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// Multicast; for IPv4 also the reserved block above it, which includes the broadcast address.
bool is_not_unicast(const PortAddress& address) {
  return address.is_ipv6 ? address.bytes[0] == 0xff : address.bytes[0] >= 224;
}

}  // namespace

bool is_unicast(const PortAddress& address) {
  return !is_unspecified(address) && !is_not_unicast(address);
}

std::string to_text(const PortAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.is_ipv6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
  return address.scope.empty() ? text.data() : absl::StrCat(text.data(), "%", address.scope);
}

bool in_same_prefix(const PortAddress& left, const PortAddress& right, std::uint8_t prefix_length) {
  if (left.is_ipv6 != right.is_ipv6) return false;
  for (std::size_t i = 0; i < left.bytes.size() && i * 8 < prefix_length; ++i) {
    const std::size_t bits = std::min<std::size_t>(prefix_length - i * 8, 8);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
    if (((left.bytes[i] ^ right.bytes[i]) & mask) != 0) return false;
  }
  return true;
}

absl::StatusOr<PortAddress> parse_port_address(std::string_view text) {
  constexpr char kLiteral[] = "an IPv4 or IPv6 address such as \"10.7.0.1\" or \"fd00::1\"";
  const std::size_t percent = text.find('%');
  const std::string literal(text.substr(0, percent));
  if (!has_only_address_characters(literal)) return bad_address(text, "is not an IP address", kLiteral);

  PortAddress address;
  address.is_ipv6 = literal.find(':') != std::string::npos;
  if (inet_pton(address.is_ipv6 ? AF_INET6 : AF_INET, literal.c_str(), address.bytes.data()) != 1) {
    return bad_address(text, "is not an IP address", kLiteral);
  }
  if (!is_unicast(address)) {
    return bad_address(text, "is not unicast", "a unicast address");
  }
  if (percent != std::string_view::npos) {
    if (!address.is_ipv6_link_local()) {
      return bad_address(text, "has a scope but is not link-local", "%INTERFACE only after an fe80::/10 address");
    }
    address.scope = text.substr(percent + 1);
    if (!is_valid_interface_name(address.scope)) {
      return bad_address(text, "has an invalid scope", "the name of an interface after %, such as \"fe80::1%eth0\"");
    }
  }
  return address;
}

bool is_valid_interface_name(std::string_view name) {
  constexpr std::string_view kNever = "/:%\"\\";
  return !name.empty() && name.size() <= kMaxInterfaceNameBytes && name != "." && name != ".." && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c)) && kNever.find(c) == std::string_view::npos;
         });
}

}  // namespace cableway::routing
