// This host's wall clock time.
#ifndef CABLEWAY_CORE_LINUX_OS_WALL_CLOCK_H_
#define CABLEWAY_CORE_LINUX_OS_WALL_CLOCK_H_

#include <chrono>

#include "core/wall_clock.h"

namespace cableway::host {

inline WallTime host_wall_time() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_WALL_CLOCK_H_
