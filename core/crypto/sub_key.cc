#include "core/crypto/sub_key.h"

#include <sodium.h>

namespace cableway {

void wipe(std::span<std::byte> bytes) {
  ::sodium_memzero(bytes.data(), bytes.size());
}

SubKey::~SubKey() {
  wipe(bytes_);
}

bool operator==(const SubKey& left, const SubKey& right) {
  return ::sodium_memcmp(left.bytes_.data(), right.bytes_.data(), SubKey::kBytes) == 0;
}

}  // namespace cableway
