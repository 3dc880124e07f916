#include "core/ports/port_selector.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using routing::PortAddress;

constexpr char kExpectedSelector[] = "the name of an interface, or a prefix such as \"10.7.0.0/16\" or \"fe80::/10\"";

absl::Status bad_selector(std::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("port ", routing::in_quotes(text), " ", why));
}

int bits_of(const PortAddress& address) {
  return address.is_ipv6 ? 128 : 32;
}

PortAddress masked(PortAddress address, int length) {
  for (int i = 0; i < static_cast<int>(address.bytes.size()); ++i) {
    const int kept = std::clamp(length - 8 * i, 0, 8);
    address.bytes[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xff00 >> kept);
  }
  return address;
}

// Distinguishes addresses from interface names: those may be "beef" or "10", but contain no colon, and none has three
// dots.
bool looks_like_address(std::string_view text) {
  return text.find(':') != std::string_view::npos ||
         (std::count(text.begin(), text.end(), '.') == 3 && std::all_of(text.begin(), text.end(), [](char c) {
            return c == '.' || absl::ascii_isdigit(static_cast<unsigned char>(c));
          }));
}

// Parses the address before the slash. parse_port_address() rejects the unspecified address, which a whole family's
// prefix begins with.
absl::StatusOr<PortAddress> parse_first_address(std::string_view text, bool is_whole_family) {
  if (is_whole_family && text == "0.0.0.0") return PortAddress{};
  if (is_whole_family && text == "::") return PortAddress{.is_ipv6 = true, .bytes = {}, .scope = {}};
  return routing::parse_port_address(text);
}

std::optional<int> parse_length(std::string_view digits, int max_length) {
  int length = 0;
  const bool is_number = !digits.empty() && digits.size() <= 3 && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  }) && absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &length);
  return is_number && length <= max_length ? std::optional(length) : std::nullopt;
}

}  // namespace

absl::StatusOr<PortSelector> parse_port_selector(std::string_view text) {
  const std::size_t slash = text.find('/');
  const bool has_length = slash != std::string_view::npos;
  if (!has_length && !looks_like_address(text)) {
    if (!routing::is_valid_interface_name(text))
      return bad_selector(text, absl::StrCat("is neither a name nor a prefix; expected ", kExpectedSelector));
    return PortSelector{std::string(text), {}};
  }

  const std::string_view digits = has_length ? text.substr(slash + 1) : std::string_view();
  absl::StatusOr<PortAddress> address = parse_first_address(text.substr(0, slash), digits == "0");
  if (!address.ok()) {
    return bad_selector(text, absl::StrCat("begins with no address: ", address.status().message()));
  }
  const int max_length = bits_of(*address);
  const std::optional<int> length = has_length ? parse_length(digits, max_length) : max_length;
  if (!length.has_value()) {
    return bad_selector(text, absl::StrCat("has a bad prefix length; expected 0 to ", max_length, " after the slash"));
  }
  const PortPrefix prefix{masked(*address, *length), static_cast<std::uint8_t>(*length)};
  if (prefix.address != *address) {
    const PortPrefix alone{*address, static_cast<std::uint8_t>(max_length)};
    return bad_selector(text, absl::StrCat("has bits beyond its prefix; expected ", to_text(prefix),
                                           " for all addresses inside it, or ", to_text(alone), " for this one"));
  }
  return PortSelector{"", prefix};
}

std::string to_text(const PortSelector& selector) {
  return selector.interface.empty() ? to_text(selector.prefix) : selector.interface;
}

std::string to_text(const PortPrefix& prefix) {
  return absl::StrCat(routing::to_text(prefix.address), "/", prefix.prefix_length);
}

bool contains(const PortPrefix& prefix, const PortAddress& address) {
  PortAddress start = masked(address, prefix.prefix_length);
  if (prefix.address.scope.empty()) start.scope.clear();
  return start == masked(prefix.address, prefix.prefix_length);
}

}  // namespace cableway
