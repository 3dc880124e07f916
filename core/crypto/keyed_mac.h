// Message authentication codes: keyed BLAKE2b (RFC 7693) of 16 bytes.
#ifndef CABLEWAY_CORE_CRYPTO_KEYED_MAC_H_
#define CABLEWAY_CORE_CRYPTO_KEYED_MAC_H_

#include <array>
#include <cstddef>
#include <span>

namespace cableway {

inline constexpr std::size_t kMacBytes = 16;
using Mac = std::array<std::byte, kMacBytes>;

// `key` has 16 to 64 bytes. Any thread.
Mac keyed_mac(std::span<const std::byte> key, std::span<const std::byte> message);

// Constant time.
bool same_mac(const Mac& left, const Mac& right);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_KEYED_MAC_H_
