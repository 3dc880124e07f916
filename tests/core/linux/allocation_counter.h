// Counts every operator new of the program that it is linked into.
#ifndef CABLEWAY_TESTS_CORE_LINUX_ALLOCATION_COUNTER_H_
#define CABLEWAY_TESTS_CORE_LINUX_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace cableway::host::test {

// Allocations so far, by all threads.
std::uint64_t allocations();

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_ALLOCATION_COUNTER_H_
