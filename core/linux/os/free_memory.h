// How much memory this process may still take before the kernel kills it or refuses. Callable from any thread.
#ifndef CABLEWAY_CORE_LINUX_OS_FREE_MEMORY_H_
#define CABLEWAY_CORE_LINUX_OS_FREE_MEMORY_H_

#include <cstdint>
#include <string>

namespace cableway::host {

// The least of: what /proc/meminfo calls available; what the control groups (version 2) of this process leave; what
// the limit of its address space (ulimit -v) leaves. The largest number if none is known. `root` is "" but for tests.
std::uint64_t free_memory_bytes(const std::string& root = "");

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_FREE_MEMORY_H_
