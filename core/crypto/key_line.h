#ifndef CABLEWAY_CORE_CRYPTO_KEY_LINE_H_
#define CABLEWAY_CORE_CRYPTO_KEY_LINE_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/crypto/sub_key.h"

namespace cableway {

// The secret of a cluster as one line of a key file (core/crypto/key_ring.h): 64 hex digits and a newline. `secret` is
// random. The caller wipes it and the text.
std::string key_line(std::span<const std::byte, SubKey::kBytes> secret);

// Overwrites a secret text, capacity included, and empties it.
void wipe(std::string& text);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CRYPTO_KEY_LINE_H_
