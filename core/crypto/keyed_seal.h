// The datagram seal of a cluster with a key. Seals with the first key and accepts all of the key ring, which may be
// replaced while the node runs.
#ifndef CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_
#define CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/crypto/datagram_seal.h"
#include "core/crypto/key_ring.h"

namespace cableway {

static_assert(kSealBytes == kMacBytes);

// Any thread.
class KeyedSeal final : public DatagramSeal {
 public:
  explicit KeyedSeal(KeyRing keys) : keys_(std::make_shared<const KeyRing>(std::move(keys))) {}

  SealBytes seal(std::span<const std::byte> bytes) const override {
    return keys()->mac(KeyUse::kControlDatagram, bytes);
  }
  bool matches(std::span<const std::byte> bytes, std::span<const std::byte, kSealBytes> seal) const override {
    Mac mac;
    std::copy(seal.begin(), seal.end(), mac.begin());
    return keys()->verify(KeyUse::kControlDatagram, bytes, mac);
  }

  // Replaces the keys for later calls; `keys` must not be null.
  void use(std::shared_ptr<const KeyRing> keys) {
    const std::lock_guard lock(mutex_);
    keys_.swap(keys);
  }
  std::shared_ptr<const KeyRing> keys() const {
    const std::lock_guard lock(mutex_);  // not held while a MAC is made: the pulses' thread must not wait
    return keys_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeyRing> keys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_
