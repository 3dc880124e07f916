// The memory of a circuit that is relayed over TCP, and the division of a node's relay memory: up to half of it to
// leases, which busy circuits share in turn, the rest to floors, which limits the number of circuits.
// docs/decisions/0007 derives the numbers.
#ifndef CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_
#define CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "core/linux/tcp/data_socket.h"

namespace cableway::host {

// Buffer sizes as passed to setsockopt. The send buffer of a floor circuit's downstream socket; with a lease it is
// kSendBufferBytes. The upstream socket's receive buffer is kReceiveBufferBytes, as everywhere.
inline constexpr int kFloorSendBytes = 64 << 10;
// The maximum by which a socket's queue may exceed its limit: the packet that fills it.
inline constexpr std::uint64_t kLastPacketReceived = 192U << 10;
inline constexpr std::uint64_t kLastPacketSent = 64U << 10;
// The buffer of the opposite direction, always: announcements and acknowledgements of 32 bytes each.
inline constexpr int kControlBufferBytes = 8 << 10;
// Limit of payload in the pipe of each of a circuit's slots, without and with a lease.
inline constexpr std::uint32_t kFloorPipeBytes = 64U << 10;
inline constexpr std::uint32_t kWidePipeBytes = 256U << 10;

// One extra slot is enough: while the tail of a chunk drains, the head of the next one arrives.
inline constexpr std::size_t kLeasesPerCircuit = 1;

struct RelayMemory {
  std::uint64_t bytes = 0;       // the memory that was divided
  std::size_t max_circuits = 0;  // at least one
  std::size_t leases = 0;
};

// What the kernel and this process may use for one circuit on its floor, and for one lease in addition.
std::uint64_t floor_memory();
std::uint64_t lease_memory();

RelayMemory share_out_relay_memory(std::uint64_t bytes);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_RELAY_MEMORY_H_
