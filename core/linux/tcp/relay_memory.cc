#include "core/linux/tcp/relay_memory.h"

#include <algorithm>

namespace cableway::host {
namespace {

// The kernel doubles the size passed to setsockopt, and accepts one more packet while the buffer is not full.
constexpr std::uint64_t kDoubled = 2;
// Two links with their staging and queues, a slot's head, and the path's names; also the kernel's sockets, files and
// pipe.
constexpr std::uint64_t kRecords = 32U << 10;

constexpr std::uint64_t kDataIn = kDoubled * kReceiveBufferBytes + kLastPacketReceived;
constexpr std::uint64_t kDataOut = kDoubled * kFloorSendBytes + kLastPacketSent;
constexpr std::uint64_t kAnswers = 2 * kDoubled * kControlBufferBytes;
constexpr std::uint64_t kFloor = kDataIn + kDataOut + kAnswers + kFloorPipeBytes + kRecords;
// The leased slot's own pipe, and the floor's, which grows with the send buffer.
constexpr std::uint64_t kLease =
    kDoubled * (kSendBufferBytes - kFloorSendBytes) + kWidePipeBytes + (kWidePipeBytes - kFloorPipeBytes);

// With this number, the leases' pipes use half of a user's default limit (fs.pipe-user-pages-soft); floors also need
// pipes.
constexpr std::uint64_t kMaxLeases = 128;

}  // namespace

std::uint64_t floor_memory() {
  return kFloor;
}

std::uint64_t lease_memory() {
  return kLease;
}

RelayMemory share_out_relay_memory(std::uint64_t bytes) {
  const std::uint64_t leases = std::min(bytes / 2 / kLease, kMaxLeases);
  const std::uint64_t circuits = std::max<std::uint64_t>((bytes - leases * kLease) / kFloor, 1);
  return {bytes, static_cast<std::size_t>(circuits), static_cast<std::size_t>(leases)};
}

}  // namespace cableway::host
