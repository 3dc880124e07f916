#include "core/linux/relay_memory.h"

#include <algorithm>

namespace cableway::linux_ {
namespace {

// The kernel doubles what setsockopt is told, and takes one more packet as long as the buffer is not full.
constexpr std::uint64_t kDoubled = 2;
// Two links with what they read ahead and queue, a slot's head, the path's names; the kernel's sockets, files and pipe.
constexpr std::uint64_t kRecords = 32U << 10;

constexpr std::uint64_t kDataIn = kDoubled * kRelayReceiveBytes + kLastPacketReceived;
constexpr std::uint64_t kDataOut = kDoubled * kFloorSendBytes + kLastPacketSent;
constexpr std::uint64_t kAnswers = 2 * kDoubled * kControlBufferBytes;
constexpr std::uint64_t kFloor = kDataIn + kDataOut + kAnswers + kFloorPipeBytes + kRecords;
// The slot's own pipe, and the floor's, which grows with the send buffer.
constexpr std::uint64_t kLease =
    kDoubled * (kSocketBufferBytes - kFloorSendBytes) + kWidePipeBytes + (kWidePipeBytes - kFloorPipeBytes);

// Each takes two descriptors, whether it is leased or not.
constexpr std::uint64_t kMostLeases = 1024;

}  // namespace

std::uint64_t floor_memory() {
  return kFloor;
}

std::uint64_t lease_memory() {
  return kLease;
}

RelayMemory share_out_relay_memory(std::uint64_t bytes) {
  const std::uint64_t half = bytes / 2;
  return {bytes, static_cast<std::size_t>(std::max<std::uint64_t>(half / kFloor, 1)),
          static_cast<std::size_t>(std::min(half / kLease, kMostLeases))};
}

}  // namespace cableway::linux_
