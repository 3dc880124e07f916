// The datagram seal of a cluster with a key.
#ifndef CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_
#define CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_

#include <algorithm>
#include <utility>

#include "core/crypto/control_key.h"
#include "core/crypto/datagram_seal.h"

namespace cableway {

static_assert(kSealBytes == kMacBytes);

class KeyedSeal final : public DatagramSeal {
 public:
  explicit KeyedSeal(ControlKey key) : key_(std::move(key)) {}

  SealBytes seal(std::span<const std::byte> bytes) const override { return key_.mac(KeyUse::kControlDatagram, bytes); }
  bool matches(std::span<const std::byte> bytes, std::span<const std::byte, kSealBytes> seal) const override {
    Mac mac;
    std::copy(seal.begin(), seal.end(), mac.begin());
    return key_.verify(KeyUse::kControlDatagram, bytes, mac);
  }

 private:
  const ControlKey key_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_KEYED_SEAL_H_
