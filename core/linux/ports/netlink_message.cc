#include "core/linux/ports/netlink_message.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "absl/strings/escaping.h"

namespace cableway::host {
namespace {

// Defined only in <linux/if.h>, which conflicts with <net/if.h>.
constexpr unsigned kLowerUp = 0x10000;

template <int kMax>
using Attributes = std::array<nlattr*, kMax + 1>;

template <int kMax>
bool parse_attributes(nlmsghdr* message, int header_bytes, Attributes<kMax>& attributes) {
  return nlmsg_parse(message, header_bytes, attributes.data(), kMax, nullptr) >= 0;
}

std::string text_of(const nlattr* attribute) {
  if (attribute == nullptr) return "";
  const auto* text = static_cast<const char*>(nla_data(attribute));
  return std::string(text, ::strnlen(text, static_cast<std::size_t>(nla_len(attribute))));
}

std::uint32_t number_of(const nlattr* attribute) {
  std::uint32_t number = 0;
  if (attribute != nullptr && nla_len(attribute) >= static_cast<int>(sizeof number)) {
    std::memcpy(&number, nla_data(attribute), sizeof number);
  }
  return number;
}

std::string hex_of(const nlattr* attribute) {
  if (attribute == nullptr) return "";
  return absl::BytesToHexString(
      absl::string_view(static_cast<const char*>(nla_data(attribute)), static_cast<std::size_t>(nla_len(attribute))));
}

std::string kind_of(nlattr* link_info) {
  Attributes<IFLA_INFO_MAX> info{};
  if (link_info == nullptr || nla_parse_nested(info.data(), IFLA_INFO_MAX, link_info, nullptr) < 0) {
    return "";
  }
  return text_of(info[IFLA_INFO_KIND]);
}

std::optional<routing::PortAddress> address_of(const nlattr* attribute, bool is_ipv6) {
  const int bytes = is_ipv6 ? 16 : 4;
  if (attribute == nullptr || nla_len(attribute) != bytes) return std::nullopt;
  routing::PortAddress address;
  address.is_ipv6 = is_ipv6;
  std::memcpy(address.bytes.data(), nla_data(attribute), static_cast<std::size_t>(bytes));
  return address;
}

int common_bits(const routing::PortAddress& a, const routing::PortAddress& b) {
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const auto different = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
    if (different != 0) return 8 * static_cast<int>(i) + std::countl_zero(different);
  }
  return a.is_ipv6 ? 128 : 32;
}

}  // namespace

std::optional<std::pair<PortId, KernelLink>> parse_link(nlmsghdr* message) {
  Attributes<IFLA_MAX> attributes{};
  if (!parse_attributes<IFLA_MAX>(message, sizeof(ifinfomsg), attributes)) return std::nullopt;
  const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(message));
  if (header->ifi_family != AF_UNSPEC || header->ifi_index <= 0) return std::nullopt;

  KernelLink link;
  link.name = text_of(attributes[IFLA_IFNAME]);
  link.kind = kind_of(attributes[IFLA_LINKINFO]);
  link.up = (header->ifi_flags & IFF_UP) != 0;
  link.carrier = link.up && (header->ifi_flags & kLowerUp) != 0;
  link.loopback = (header->ifi_flags & IFF_LOOPBACK) != 0;
  link.mtu = number_of(attributes[IFLA_MTU]);
  link.master = number_of(attributes[IFLA_MASTER]);
  link.phys_switch_id = hex_of(attributes[IFLA_PHYS_SWITCH_ID]);
  link.phys_port_name = text_of(attributes[IFLA_PHYS_PORT_NAME]);
  return std::pair(static_cast<PortId>(header->ifi_index), std::move(link));
}

std::optional<KernelAddress> parse_kernel_address(nlmsghdr* message) {
  Attributes<IFA_MAX> attributes{};
  if (!parse_attributes<IFA_MAX>(message, sizeof(ifaddrmsg), attributes)) return std::nullopt;
  const auto* header = static_cast<const ifaddrmsg*>(nlmsg_data(message));
  if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6) return std::nullopt;
  const bool is_ipv6 = header->ifa_family == AF_INET6;

  // On a point-to-point interface IFA_ADDRESS is the other end's address; IFA_LOCAL is then present, too.
  const auto far = address_of(attributes[IFA_ADDRESS], is_ipv6);
  const auto local = attributes[IFA_LOCAL] != nullptr ? address_of(attributes[IFA_LOCAL], is_ipv6) : far;
  if (!local.has_value() || header->ifa_prefixlen > (is_ipv6 ? 128 : 32)) return std::nullopt;

  KernelAddress address;
  address.link = header->ifa_index;
  address.prefix.address = *local;
  address.prefix.prefix_length = header->ifa_prefixlen;
  if (far.has_value() && *far != *local) {
    const int shared = std::min<int>(header->ifa_prefixlen, common_bits(*local, *far));
    address.prefix.prefix_length = static_cast<std::uint8_t>(shared);
  }
  const std::uint32_t flags = attributes[IFA_FLAGS] != nullptr ? number_of(attributes[IFA_FLAGS])
                                                               : static_cast<std::uint32_t>(header->ifa_flags);
  address.duplicate = (flags & IFA_F_DADFAILED) != 0;
  address.tentative = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0 && !address.duplicate;
  return address;
}

}  // namespace cableway::host
