// Repeats a system call that a signal cut short. With edge-triggered polling an ignored EINTR is an event lost.
#ifndef CABLEWAY_CORE_LINUX_UNINTERRUPTED_H_
#define CABLEWAY_CORE_LINUX_UNINTERRUPTED_H_

#include <cerrno>

namespace cableway::linux_ {

template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_UNINTERRUPTED_H_
