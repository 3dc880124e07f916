#include "core/rdma/ethernet_address.h"

#include <charconv>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace cableway {

bool EthernetAddress::is_of_an_interface() const {
  constexpr std::byte kGroup{1};
  return !is_zero() && (bytes[0] & kGroup) == std::byte{};
}

std::string to_text(const EthernetAddress& address) {
  std::string text;
  for (const std::byte each : address.bytes) {
    absl::StrAppend(&text, text.empty() ? "" : ":", absl::Hex(static_cast<std::uint8_t>(each), absl::kZeroPad2));
  }
  return text;
}

std::optional<EthernetAddress> parse_ethernet_address(std::string_view text) {
  constexpr std::size_t kEach = 3;  // characters of a byte, with the colon before the next
  EthernetAddress address;
  if (text.size() != kEach * address.bytes.size() - 1) return std::nullopt;
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const char* const begin = text.data() + kEach * i;
    std::uint8_t value = 0;
    if (std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2) return std::nullopt;
    if (i > 0 && begin[-1] != ':') return std::nullopt;
    address.bytes[i] = std::byte{value};
  }
  return address;
}

}  // namespace cableway
