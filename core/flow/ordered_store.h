// Places received bytes in memory that another thread or device may already be reading.
//
// NCCL's LL and LL128 protocols act on flags inside the data, before the receive completes: LL reads 8-byte words of
// 4 bytes data and 4 bytes flag; LL128 reads 128-byte lines whose last 8 bytes are the flag. So a reader that polls
// must never see a word torn, nor a line's last word before the rest of that line. memcpy promises neither: string
// instructions may store out of order on x86-64, and on arm64 any two plain stores may become visible in any order.
#ifndef CABLEWAY_CORE_FLOW_ORDERED_STORE_H_
#define CABLEWAY_CORE_FLOW_ORDERED_STORE_H_

#include <cstddef>

namespace cableway {

// Copies `bytes` bytes from `from` to `to` in ascending order. Aligned words are stored by single 8-byte stores, and
// the last word of every 128-byte line of the destination with release order after all words before it. Bytes before
// the first and after the last aligned word of the destination are stored one by one, in order. The source may have
// any alignment.
void ordered_store(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_ORDERED_STORE_H_
