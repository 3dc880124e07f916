// One end of a queue pair, and its encoding as the parameters of a transport offer (core/circuit/transport.h).
#ifndef CABLEWAY_CORE_RDMA_RDMA_ENDPOINT_H_
#define CABLEWAY_CORE_RDMA_RDMA_ENDPOINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/rdma/ethernet_address.h"

namespace cableway {

// What one end of a hop sends to the other to connect the queue pairs.
struct RdmaEndpoint {
  std::uint32_t queue_pair = 0;       // 24 bits
  std::uint32_t packet_sequence = 0;  // 24 bits, random
  std::array<std::byte, 16> gid{};    // of the port that the hop uses
  std::uint32_t mtu = 0;              // bytes of payload a packet may have: 256, 512, 1024, 2048 or 4096
  std::uint64_t mailbox = 0;          // address of its mailbox (core/rdma/rdma_chunk_link.h)
  std::uint32_t mailbox_key = 0;
  // The address of the interface that has the GID's address; zero: the loopback interface. Other interfaces of that
  // host may also answer for the address.
  EthernetAddress ethernet = {};

  friend bool operator==(const RdmaEndpoint&, const RdmaEndpoint&) = default;
};

std::vector<std::byte> encode_rdma_endpoint(const RdmaEndpoint& endpoint);
// InvalidArgument: it is truncated, or has an invalid number or Ethernet address.
absl::StatusOr<RdmaEndpoint> decode_rdma_endpoint(std::span<const std::byte> parameters);

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_RDMA_ENDPOINT_H_
