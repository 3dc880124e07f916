// The CPU time of this process so far, in user and in kernel mode.
#ifndef CABLEWAY_TOOLS_BENCH_CPU_SECONDS_H_
#define CABLEWAY_TOOLS_BENCH_CPU_SECONDS_H_

#include <sys/resource.h>

namespace cableway {

inline double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_BENCH_CPU_SECONDS_H_
