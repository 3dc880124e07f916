#include "tools/cableway/address_plan/subnet_range.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/ports/port_selector.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"

namespace cableway::cli {
namespace {

constexpr int kIpv4Bits = 32;

struct ReservedRange {
  std::uint32_t first;
  int bits;
  const char* what;
};
// RFC 6890; multicast and above count as one.
constexpr std::array<ReservedRange, 4> kReserved = {{{0x00000000, 8, "this network"},
                                                     {0x7f000000, 8, "loopback addresses"},
                                                     {0xa9fe0000, 16, "link-local addresses"},
                                                     {0xe0000000, 3, "multicast and reserved addresses"}}};

std::uint32_t mask_of(int bits) {
  return bits == 0 ? 0 : ~std::uint32_t{0} << (kIpv4Bits - bits);
}

absl::Status range_fault(std::string_view range, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("--subnet ", routing::in_quotes(range), " ", what));
}

std::string dotted(std::uint32_t address) {
  return absl::StrCat(address >> 24, ".", (address >> 16) & 0xff, ".", (address >> 8) & 0xff, ".", address & 0xff);
}

}  // namespace

absl::StatusOr<SubnetRange> SubnetRange::parse(std::string_view range, int subnet_bits) {
  const absl::StatusOr<PortSelector> parsed = parse_port_selector(range);
  const bool is_range = parsed.ok() && parsed->interface.empty() && range.find('/') != std::string_view::npos;
  if (!is_range || parsed->prefix.address.is_ipv6) {
    const std::string reason = parsed.ok() || range.find('/') == std::string_view::npos
                                   ? ""
                                   : absl::StrCat(" (", parsed.status().message(), ")");
    return range_fault(range,
                       absl::StrCat("is not a range of IPv4 addresses", reason, "; expected one such as 10.10.0.0/16"));
  }
  const int bits = parsed->prefix.prefix_length;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < 4; ++i) first = first << 8 | parsed->prefix.address.bytes[i];
  if (bits > subnet_bits) {
    return range_fault(range,
                       absl::StrCat("is smaller than one subnet of /", subnet_bits, "; expected a prefix of at most ",
                                    subnet_bits, " bits, or another --prefix"));
  }
  for (const ReservedRange& reserved : kReserved) {
    const std::uint32_t shared = mask_of(std::min(bits, reserved.bits));
    if ((first & shared) != (reserved.first & shared)) continue;
    return range_fault(range, absl::StrCat("has ", reserved.what, " (", dotted(reserved.first), "/", reserved.bits,
                                           "); expected private addresses, such as 10.10.0.0/16"));
  }
  return SubnetRange(first, bits, subnet_bits);
}

std::string SubnetRange::subnet(std::uint64_t number) const {
  return absl::StrCat(address(number, 0), "/", subnet_bits_);
}

std::string SubnetRange::address(std::uint64_t number, std::uint32_t host) const {
  return dotted(first_ + static_cast<std::uint32_t>(number << (kIpv4Bits - subnet_bits_)) + host);
}

}  // namespace cableway::cli
