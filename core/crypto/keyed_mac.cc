#include "core/crypto/keyed_mac.h"

#include <sodium.h>

namespace cableway {
namespace {

const unsigned char* start_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Mac keyed_mac(std::span<const std::byte> key, std::span<const std::byte> message) {
  static_assert(kMacBytes >= crypto_generichash_BYTES_MIN);
  Mac mac{};
  // Fails only for sizes out of range, and callers' keys have a fixed size. sodium_init() would only select a faster
  // implementation.
  static_cast<void>(::crypto_generichash(reinterpret_cast<unsigned char*>(mac.data()), mac.size(), start_of(message),
                                         message.size(), start_of(key), key.size()));
  return mac;
}

bool same_mac(const Mac& left, const Mac& right) {
  return ::sodium_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace cableway
