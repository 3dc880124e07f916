// Authenticates datagrams as sent by a node of this cluster: a keyed MAC, or zeros if there is no key.
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
  // Constant time.
  virtual bool matches(std::span<const std::byte> bytes, std::span<const std::byte, kSealBytes> seal) const = 0;
};

// For a cluster without a key: makes and accepts zeros only, so that nodes with and without a key detect each other.
class NoSeal final : public DatagramSeal {
 public:
  SealBytes seal(std::span<const std::byte> /*bytes*/) const override { return {}; }
  bool matches(std::span<const std::byte> /*bytes*/, std::span<const std::byte, kSealBytes> seal) const override {
    return std::all_of(seal.begin(), seal.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_DATAGRAM_SEAL_H_
