// What a circuit that is relayed over TCP costs in memory, and how a node's relay memory is shared out: up to half of
// it to leases, which circuits take in turn while they are busy, the rest to floors, which bounds the number of
// circuits. docs/decisions/0007 says where the numbers come from.
#ifndef CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_
#define CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "core/linux/tcp/data_socket.h"

namespace cableway::host {

// As setsockopt is told. What the downstream socket of a circuit on its floor sends; with a lease it is
// kSendBufferBytes. What the upstream socket receives is kReceiveBufferBytes, as everywhere.
inline constexpr int kFloorSendBytes = 64 << 10;
// By how much a socket's queue may pass its limit: the packet that fills it.
inline constexpr std::uint64_t kLastPacketReceived = 192U << 10;
inline constexpr std::uint64_t kLastPacketSent = 64U << 10;
// The other way, at all times: announcements and acknowledgements, of 32 bytes each.
inline constexpr int kControlBufferBytes = 8 << 10;
// Payload that the pipe of each of a circuit's slots holds at most, while it is on its floor and while it has a lease.
inline constexpr std::uint32_t kFloorPipeBytes = 64U << 10;
inline constexpr std::uint32_t kWidePipeBytes = 256U << 10;

// One slot more is enough: while the tail of a chunk drains, the head of the next one arrives.
inline constexpr std::size_t kLeasesPerCircuit = 1;

struct RelayMemory {
  std::uint64_t bytes = 0;       // what was shared out
  std::size_t max_circuits = 0;  // at least one
  std::size_t leases = 0;
};

// What the kernel and this process may hold for one circuit on its floor, and for one lease on top of that.
std::uint64_t floor_memory();
std::uint64_t lease_memory();

RelayMemory share_out_relay_memory(std::uint64_t bytes);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_
