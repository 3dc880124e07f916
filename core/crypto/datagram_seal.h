// What proves that a datagram comes from a node of this cluster: a keyed MAC over it, or nothing where there is no key.
#ifndef CABLEWAY_CORE_CRYPTO_DATAGRAM_SEAL_H_
#define CABLEWAY_CORE_CRYPTO_DATAGRAM_SEAL_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace cableway {

inline constexpr std::size_t kSealBytes = 16;
using SealBytes = std::array<std::byte, kSealBytes>;

class DatagramSeal {
 public:
  virtual ~DatagramSeal() = default;
  virtual SealBytes seal(std::span<const std::byte> bytes) const = 0;
  // In time that does not depend on where they differ.
  virtual bool matches(std::span<const std::byte> bytes, std::span<const std::byte, kSealBytes> seal) const = 0;
};

// A cluster without a key: zeros, and nothing but zeros, so that a node without a key and one with a key both notice.
class NoSeal final : public DatagramSeal {
 public:
  SealBytes seal(std::span<const std::byte> /*bytes*/) const override { return {}; }
  bool matches(std::span<const std::byte> /*bytes*/, std::span<const std::byte, kSealBytes> seal) const override {
    return std::all_of(seal.begin(), seal.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_DATAGRAM_SEAL_H_
