// System resources of a process, read from /proc.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace cableway::nccl::test {

std::int64_t open_descriptors(pid_t process);
std::int64_t resident_kib(pid_t process);

// Closed connections are drained for a moment: waits until at most `expected` descriptors are open or `limit` has
// passed, and returns how many are open.
std::int64_t settled_descriptors(pid_t process, std::int64_t expected,
                                 std::chrono::seconds limit = std::chrono::seconds(10));

// Once their number has not changed for a second: of a node that has just found its cables.
std::int64_t steady_descriptors(pid_t process);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_PROCESS_FOOTPRINT_H_
