// Values nobody can guess.
#ifndef CABLEWAY_CORE_LINUX_RANDOM_VALUE_H_
#define CABLEWAY_CORE_LINUX_RANDOM_VALUE_H_

#include <sys/random.h>

#include <type_traits>

namespace cableway::linux_ {

// Of at most 256 bytes, for which getrandom(2) cannot fail.
template <typename T>
T random_value() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256);
  T value{};
  static_cast<void>(::getrandom(&value, sizeof value, 0));
  return value;
}

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_RANDOM_VALUE_H_
