// The secret that the nodes of a cluster share, and the message authentication codes made with it: keyed BLAKE2b (RFC
// 7693) with a subkey for every use, so that a MAC made for one use does not verify for another. Subkeys come from
// libsodium's crypto_kdf (BLAKE2b over the use, keyed with the secret).
#ifndef CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_
#define CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/crypto/keyed_mac.h"
#include "core/crypto/sub_key.h"

namespace cableway {

// The end of each error about a key's text.
inline constexpr char kExpectedKey[] = "; expected 64 hex digits, as `openssl rand -hex 32` writes them";

enum class KeyUse { kControlDatagram, kCircuitSetup, kFingerprint };

// Immutable; any thread. The destructor wipes the key.
class ControlKey {
 public:
  // 32 bytes as 64 hex digits, surrounding white space allowed. The InvalidArgument message contains nothing of the
  // text. The caller wipes `text`.
  static absl::StatusOr<ControlKey> parse(std::string_view text);
  ControlKey(ControlKey&&) = default;
  ControlKey& operator=(ControlKey&&) = default;

  // Reveals nothing about the other subkeys or the secret.
  const SubKey& subkey(KeyUse use) const { return subkeys_[static_cast<std::size_t>(use)]; }

  Mac mac(KeyUse use, std::span<const std::byte> message) const;

  // Constant time.
  bool verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const;

  // 8 hex digits that anyone may see: an operator compares the keys of hosts by them.
  std::string fingerprint() const;

  // Whether both come from the same secret; constant time.
  friend bool operator==(const ControlKey& left, const ControlKey& right) { return left.subkeys_ == right.subkeys_; }

 private:
  static constexpr std::size_t kUses = 3;

  ControlKey() = default;

  std::array<SubKey, kUses> subkeys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_CONTROL_KEY_H_
