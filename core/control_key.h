// The secret that the nodes of a cluster share, and the message authentication codes made with it: keyed BLAKE2b
// (RFC 7693) with a subkey for every use, so that what was signed for one use is worth nothing for another. Subkeys
// come from libsodium's crypto_kdf (BLAKE2b over the use, keyed with the secret).
#ifndef CABLEWAY_CORE_CONTROL_KEY_H_
#define CABLEWAY_CORE_CONTROL_KEY_H_

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace cableway {

inline constexpr std::size_t kMacBytes = 16;
using Mac = std::array<std::byte, kMacBytes>;

// More than any well-formed key file has; a reader needs no more than one byte past it.
inline constexpr std::size_t kMaxKeyFileBytes = 1024;

enum class KeyUse { kControlDatagram, kCircuitSetup };

// Immutable, for any thread. Wiped from memory when it goes; a moved-from one is good for nothing but destruction.
class ControlKey {
 public:
  // A key file: 32 bytes as 64 hex digits, white space around them. InvalidArgument says what is wrong and shows
  // nothing of the file. The caller wipes `text`.
  static absl::StatusOr<ControlKey> parse(std::string_view text);

  Mac mac(KeyUse use, std::span<const std::byte> message) const;

  // In a time that does not depend on how much of `mac` is right.
  bool verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const;

 private:
  struct Subkeys;
  struct Wipe {
    void operator()(Subkeys* subkeys) const;
  };

  explicit ControlKey(std::unique_ptr<Subkeys, Wipe> subkeys) : subkeys_(std::move(subkeys)) {}

  std::unique_ptr<Subkeys, Wipe> subkeys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CONTROL_KEY_H_
