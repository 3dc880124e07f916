// A secret of 32 bytes for one use, derived from the cluster's (core/crypto/control_key.h).
#ifndef CABLEWAY_CORE_CRYPTO_SUB_KEY_H_
#define CABLEWAY_CORE_CRYPTO_SUB_KEY_H_

#include <array>
#include <cstddef>
#include <span>

#include "core/crypto/keyed_mac.h"

namespace cableway {

// Overwrites what held a secret, as no compiler leaves out.
void wipe(std::span<std::byte> bytes);

// A value; each copy is wiped from memory when it goes. Reading is for any thread.
class SubKey {
 public:
  static constexpr std::size_t kBytes = 32;

  SubKey() = default;
  SubKey(const SubKey&) = default;
  SubKey& operator=(const SubKey&) = default;
  ~SubKey();

  Mac mac(std::span<const std::byte> message) const { return keyed_mac(bytes_, message); }

  // For whoever fills it in, or hands it to a process that may have it.
  std::span<std::byte, kBytes> bytes() { return bytes_; }
  std::span<const std::byte, kBytes> bytes() const { return bytes_; }

  // In a time that does not depend on where they differ.
  friend bool operator==(const SubKey& left, const SubKey& right);

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_SUB_KEY_H_
