// What a process holds of the system, read from /proc.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace cableway::nccl::test {

std::int64_t open_descriptors(pid_t process);
std::int64_t resident_kib(pid_t process);

// Connections that were closed are drained for a moment: waits until at most `expected` descriptors are open, or the
// time is up, and says how many are.
std::int64_t settled_descriptors(pid_t process, std::int64_t expected,
                                 std::chrono::seconds limit = std::chrono::seconds(10));

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_
