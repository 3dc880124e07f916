// Repeats a system call that a signal interrupted. With edge-triggered polling, an ignored EINTR loses an event.
#ifndef CABLEWAY_CORE_LINUX_OS_UNINTERRUPTED_H_
#define CABLEWAY_CORE_LINUX_OS_UNINTERRUPTED_H_

#include <cerrno>

namespace cableway::host {

template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_UNINTERRUPTED_H_
