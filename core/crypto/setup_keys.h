// The keys for set-ups (KeyUse::kCircuitSetup) that a node and its processes accept at one time: none where the cluster
// has no key, else one, or two while the cluster changes its key (core/crypto/key_ring.h).
#ifndef CABLEWAY_CORE_CRYPTO_SETUP_KEYS_H_
#define CABLEWAY_CORE_CRYPTO_SETUP_KEYS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/crypto/sub_key.h"

namespace cableway {

// A value type; each copy of a key is wiped when it ends.
class SetupKeys {
 public:
  static constexpr std::size_t kMost = 2;

  SetupKeys() = default;
  explicit SetupKeys(const SubKey& only) : keys_{only} {}
  SetupKeys(const SubKey& sealing, const SubKey& other) : keys_{sealing, other} {}

  bool empty() const { return keys_.empty(); }
  // The one that seals what this end begins.
  std::optional<SubKey> sealing() const { return empty() ? std::nullopt : std::optional(keys_.front()); }
  // All keys; the first one seals.
  std::span<const SubKey> accepted() const { return keys_; }

  friend bool operator==(const SetupKeys&, const SetupKeys&) = default;

 private:
  std::vector<SubKey> keys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_SETUP_KEYS_H_
