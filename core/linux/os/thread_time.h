// The time that the calling thread has spent running and waiting for a processor, from /proc/thread-self/schedstat
// (Documentation/scheduler/sched-stats.rst of Linux).
#ifndef CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_
#define CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_

#include "core/clock.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

class ThreadTime {
 public:
  // Measures the thread that constructs it.
  ThreadTime();

  // The time since the thread began; without the waiting time if the kernel does not report it. Does not allocate.
  Duration spent() const;

 private:
  UniqueFd file_;  // invalid: the kernel does not report the times
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_THREAD_TIME_H_
