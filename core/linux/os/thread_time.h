// How long the calling thread has been on a processor, and has waited for one: /proc/thread-self/schedstat
// (Documentation/scheduler/sched-stats.rst of Linux).
#ifndef CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_
#define CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_

#include "core/clock.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

class ThreadTime {
 public:
  // For the thread that constructs it.
  ThreadTime();

  // Since the thread began. Without the time of waiting where the kernel does not tell that. Does not allocate.
  Duration spent() const;

 private:
  UniqueFd file_;  // not valid: the kernel does not tell
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_
