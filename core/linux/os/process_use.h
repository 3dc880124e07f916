// What this process uses of its host.
#ifndef CABLEWAY_CORE_LINUX_OS_PROCESS_USE_H_
#define CABLEWAY_CORE_LINUX_OS_PROCESS_USE_H_

#include "core/metrics/host_measures.h"

namespace cableway::host {

// Any thread. A member is 0 where the kernel does not say.
ProcessUse read_process_use();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_PROCESS_USE_H_
