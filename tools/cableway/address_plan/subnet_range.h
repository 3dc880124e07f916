// The range of IPv4 addresses from which every cable gets a subnet of its own.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_SUBNET_RANGE_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_SUBNET_RANGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::cli {

inline constexpr int kShortestPrefix = 8;  // bits of a prefix
inline constexpr int kLongestPrefix = 30;  // two addresses beside those of the network and of broadcasts

class SubnetRange {
 public:
  // `range` is "10.10.0.0/16"; `subnet_bits` the length of a subnet's prefix, kShortestPrefix to kLongestPrefix.
  // InvalidArgument: it is not of this form, has bits beyond its prefix, is smaller than one subnet, or is not for
  // hosts (loopback, link-local, multicast, ..).
  static absl::StatusOr<SubnetRange> parse(std::string_view range, int subnet_bits);

  std::uint64_t count() const { return std::uint64_t{1} << (subnet_bits_ - range_bits_); }
  int subnet_bits() const { return subnet_bits_; }

  // "10.10.3.0/24". Precondition: number < count(), also below.
  std::string subnet(std::uint64_t number) const;
  // "10.10.3.1". `host`: 1 or 2.
  std::string address(std::uint64_t number, std::uint32_t host) const;

 private:
  SubnetRange(std::uint32_t first, int range_bits, int subnet_bits)
      : first_(first), range_bits_(range_bits), subnet_bits_(subnet_bits) {}

  std::uint32_t first_;
  int range_bits_;
  int subnet_bits_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_SUBNET_RANGE_H_
