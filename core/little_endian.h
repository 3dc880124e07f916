// Little-endian numbers at known places of memory. For input whose length is to be checked, see core/wire.h.
#ifndef CABLEWAY_CORE_LITTLE_ENDIAN_H_
#define CABLEWAY_CORE_LITTLE_ENDIAN_H_

#include <boost/endian/conversion.hpp>
#include <concepts>
#include <cstddef>

namespace cableway {

template <std::unsigned_integral T>
void store_little_endian(std::byte* to, T value) {
  boost::endian::endian_store<T, sizeof(T), boost::endian::order::little>(reinterpret_cast<unsigned char*>(to), value);
}

template <std::unsigned_integral T>
T load_little_endian(const std::byte* from) {
  return boost::endian::endian_load<T, sizeof(T), boost::endian::order::little>(
      reinterpret_cast<const unsigned char*>(from));
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_LITTLE_ENDIAN_H_
