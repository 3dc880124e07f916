#include "core/flow/crc32c.h"

#include <isa-l/crc.h>

namespace cableway {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // ISA-L does not write to the data.
  auto* const data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~before);
}

}  // namespace cableway
