// Unpredictable random values.
#ifndef CABLEWAY_CORE_LINUX_OS_RANDOM_VALUE_H_
#define CABLEWAY_CORE_LINUX_OS_RANDOM_VALUE_H_

#include <sys/random.h>

#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace cableway::host {

// At most 256 bytes, for which getrandom(2) cannot fail. Aborts if a sandbox forbids the call, since no other value
// would be safe.
template <typename T>
T random_value() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256);
  T value{};
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}

// The initial packet sequence number of a queue pair. Random, so that packets of an earlier connection are not
// accepted.
inline std::uint32_t random_packet_sequence() {
  return random_value<std::uint32_t>() >> 8;
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_RANDOM_VALUE_H_
