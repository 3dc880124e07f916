// CRC32C (the Castagnoli polynomial, RFC 3720 section 12.1), computed by ISA-L with the processor's instructions for
// it. Callable from any thread.
#ifndef CABLEWAY_CORE_FLOW_CRC32C_H_
#define CABLEWAY_CORE_FLOW_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cableway {

// Continues the CRC `before` of preceding bytes with `bytes`. At most 2^31 - 1 bytes.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CRC32C_H_
