// The data rate of a PCIe link in each direction.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_PCIE_RATE_H_
#define CABLEWAY_ROUTING_TOPOLOGY_PCIE_RATE_H_

#include <cstdint>

namespace cableway::routing {

// The share of a link's bits, after line coding, that is left for payload while both directions are busy: headers of
// packets of 256 bytes, acknowledgements, flow control, and the read requests of the other direction. Owners of DGX
// Sparks measured up to 0.865 with one function alone in one direction (docs/decisions/0012-pcie-roots.md).
inline constexpr double kPcieEfficiency = 0.78;
inline constexpr double kBestPcieEfficiency = 0.865;

// In Mbit/s, a multiple of 100, for `lanes` lanes of `gigatransfers` GT/s each: 98,300 for 4 lanes of 32 GT/s. 2.5 and
// 5 GT/s are coded 8 bits in 10, faster ones 128 in 130 (PCI Express Base Specification 5.0, 4.2.1 and 4.2.2), and 64
// GT/s 236 bytes in 256 (6.0, 4.2.3.1). 0 for a link without lanes or speed.
constexpr std::uint64_t pcie_rate_mbps(double gigatransfers, std::uint32_t lanes) {
  double coding = 128.0 / 130;
  if (gigatransfers < 8) coding = 8.0 / 10;
  if (gigatransfers > 32) coding = 236.0 / 256;
  const double mbps = gigatransfers * 1000 * lanes * coding * kPcieEfficiency;
  return static_cast<std::uint64_t>(mbps / 100) * 100;
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_PCIE_RATE_H_
