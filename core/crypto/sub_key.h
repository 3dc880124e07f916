// A 32-byte secret for one use, derived from the cluster's key (core/crypto/control_key.h).
#ifndef CABLEWAY_CORE_CRYPTO_SUB_KEY_H_
#define CABLEWAY_CORE_CRYPTO_SUB_KEY_H_

#include <array>
#include <cstddef>
#include <span>

#include "core/crypto/keyed_mac.h"

namespace cableway {

// Overwrites a secret in a way that compilers do not optimize away.
void wipe(std::span<std::byte> bytes);

// A value type; the destructor wipes the copy. Any thread may read it.
class SubKey {
 public:
  static constexpr std::size_t kBytes = 32;

  SubKey() = default;
  SubKey(const SubKey&) = default;
  SubKey& operator=(const SubKey&) = default;
  ~SubKey();

  Mac mac(std::span<const std::byte> message) const { return keyed_mac(bytes_, message); }

  // For key derivation, and for sending the key to a process of this host that may have it.
  std::span<std::byte, kBytes> bytes() { return bytes_; }
  std::span<const std::byte, kBytes> bytes() const { return bytes_; }

  // Constant time.
  friend bool operator==(const SubKey& left, const SubKey& right);

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_SUB_KEY_H_
