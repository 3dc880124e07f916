#include "tools/cableway/doctor/facts/interface_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "routing/topology/port_address.h"

namespace cableway::cli {
namespace {

struct Bytes {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::size_t size = 0;
};

// The address in `address`, whose family is `family`: a mask may have none of its own.
Bytes bytes_of(const sockaddr* address, int family) {
  Bytes result;
  if (address == nullptr) return result;
  if (family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, address, sizeof(ipv4));
    result.size = sizeof(ipv4.sin_addr);
    std::memcpy(result.bytes.data(), &ipv4.sin_addr, result.size);
  } else {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, address, sizeof(ipv6));
    result.size = sizeof(ipv6.sin6_addr);
    std::memcpy(result.bytes.data(), &ipv6.sin6_addr, result.size);
  }
  return result;
}

std::uint8_t ones_of(const Bytes& mask) {
  int ones = 0;
  for (const unsigned char byte : std::span(mask.bytes).first(mask.size)) ones += std::popcount(byte);
  return static_cast<std::uint8_t>(ones);
}

}  // namespace

std::vector<InterfaceAddress> read_interface_addresses() {
  std::vector<InterfaceAddress> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const Bytes address = bytes_of(each->ifa_addr, family);
    std::array<char, INET6_ADDRSTRLEN> shown{};
    if (::inet_ntop(family, address.bytes.data(), shown.data(), shown.size()) == nullptr) continue;
    const auto parsed = routing::parse_port_address(shown.data());
    if (!parsed.ok() || parsed->is_ipv6_link_local()) continue;
    addresses.push_back({each->ifa_name, {*parsed, ones_of(bytes_of(each->ifa_netmask, family))}});
  }
  ::freeifaddrs(list);
  return addresses;
}

}  // namespace cableway::cli
