// The address of an Ethernet interface (a MAC address).
#ifndef CABLEWAY_CORE_RDMA_ETHERNET_ADDRESS_H_
#define CABLEWAY_CORE_RDMA_ETHERNET_ADDRESS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cableway {

struct EthernetAddress {
  std::array<std::byte, 6> bytes{};

  // Whether an interface can have this address: it is neither zero nor a group address.
  bool is_of_an_interface() const;
  // Whether it is the address of a loopback interface, which needs none.
  bool is_zero() const { return bytes == decltype(bytes){}; }
  friend bool operator==(const EthernetAddress&, const EthernetAddress&) = default;
};

// "02:00:00:00:00:01".
std::string to_text(const EthernetAddress& address);
// nullopt: the text is not six bytes in that form.
std::optional<EthernetAddress> parse_ethernet_address(std::string_view text);

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_ETHERNET_ADDRESS_H_
