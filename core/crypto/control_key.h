// The secret that the nodes of a cluster share, and the message authentication codes made with it: keyed BLAKE2b
// (RFC 7693) with a subkey for every use, so that what was signed for one use is worth nothing for another. Subkeys
// come from libsodium's crypto_kdf (BLAKE2b over the use, keyed with the secret).
#ifndef CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_
#define CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/crypto/keyed_mac.h"
#include "core/crypto/sub_key.h"

namespace cableway {

// More than any well-formed key file has; a reader needs no more than one byte past it.
inline constexpr std::size_t kMaxKeyFileBytes = 1024;

enum class KeyUse { kControlDatagram, kCircuitSetup };

// Immutable, for any thread. Wiped from memory when it goes.
class ControlKey {
 public:
  // A key file: 32 bytes as 64 hex digits, white space around them. InvalidArgument says what is wrong and shows
  // nothing of the file. The caller wipes `text`.
  static absl::StatusOr<ControlKey> parse(std::string_view text);
  ControlKey(ControlKey&&) = default;
  ControlKey& operator=(ControlKey&&) = default;

  // Tells nothing of the others, nor of the secret.
  const SubKey& subkey(KeyUse use) const { return subkeys_[static_cast<std::size_t>(use)]; }

  Mac mac(KeyUse use, std::span<const std::byte> message) const;

  // In a time that does not depend on how much of `mac` is right.
  bool verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const;

 private:
  static constexpr std::size_t kUses = 2;

  ControlKey() = default;

  std::array<SubKey, kUses> subkeys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_
