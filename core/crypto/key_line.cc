#include "core/crypto/key_line.h"

#include <sodium.h>

namespace cableway {

std::string key_line(std::span<const std::byte, SubKey::kBytes> secret) {
  std::string line(2 * SubKey::kBytes + 1, '\0');
  ::sodium_bin2hex(line.data(), line.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  line.back() = '\n';  // in place of the terminating zero
  return line;
}

void wipe(std::string& text) {
  text.resize(text.capacity());
  ::sodium_memzero(text.data(), text.size());
  text.clear();
}

}  // namespace cableway
