// CRC32C (the Castagnoli polynomial, RFC 3720 section 12.1), by ISA-L with the instructions that the processor has.
// Callable from any thread.
#ifndef CABLEWAY_CORE_FLOW_CRC32C_H_
#define CABLEWAY_CORE_FLOW_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cableway {

// The CRC of the bytes that gave `before`, followed by `bytes`. At most 2^31 - 1 bytes.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CRC32C_H_
