// The keys that a node accepts at one time, as its key file has them: one, or two while the cluster changes its key
// (docs/security.md, "Changing the key"; docs/decisions/0029).
#ifndef CABLEWAY_CORE_CRYPTO_KEY_RING_H_
#define CABLEWAY_CORE_CRYPTO_KEY_RING_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/crypto/control_key.h"
#include "core/crypto/setup_keys.h"

namespace cableway {

// Larger than any well-formed key file; a reader need not read more than one byte beyond it.
inline constexpr std::size_t kMaxKeyFileBytes = 1024;

// Immutable; any thread.
class KeyRing {
 public:
  // A key file: a key (ControlKey::parse()) in each of one or two lines, others blank. InvalidArgument: no key, a
  // malformed one, more than two, the same one twice, or more than kMaxKeyFileBytes; the message contains nothing of
  // the file. The caller wipes `text`.
  static absl::StatusOr<KeyRing> parse(std::string_view text);
  KeyRing(KeyRing&&) = default;
  KeyRing& operator=(KeyRing&&) = default;

  // Made with the first key.
  Mac mac(KeyUse use, std::span<const std::byte> message) const { return keys_.front().mac(use, message); }
  // Whether one of the keys has made it; constant time for each.
  bool verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const;

  SetupKeys setup_keys() const;
  // One per key, in the order of the file.
  std::vector<std::string> fingerprints() const;

  friend bool operator==(const KeyRing&, const KeyRing&) = default;

 private:
  KeyRing() = default;

  std::vector<ControlKey> keys_;  // one or two
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_KEY_RING_H_
