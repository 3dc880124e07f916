// The bytes that collperf sends, and the check of what arrived.
//
// Every 32-bit word of every rank's input is a function of the rank, the iteration and its offset in the buffer, so a
// byte from another rank, another iteration or another offset is detected, and nothing needs to be stored. Reductions
// are sums modulo 2^32: exact in any order.
#ifndef CABLEWAY_TOOLS_COLLPERF_TEST_DATA_H_
#define CABLEWAY_TOOLS_COLLPERF_TEST_DATA_H_

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace cableway::collperf {

using workload::ExpectedSegment;

// Identifies a data set: the number of the measurement in the run, and the iteration within it.
struct DataTag {
  std::uint32_t measurement = 0;
  std::uint32_t iteration = 0;
};

// Word `index` of `rank`'s input.
std::uint32_t input_word(DataTag tag, int rank, std::uint64_t index);

// Fills `bytes` bytes with `rank`'s input from its beginning. `data` is aligned to 4 bytes.
void fill_input(DataTag tag, int rank, std::uint8_t* data, std::uint64_t bytes);

// Fills with the poison byte.
void fill_poison(std::uint8_t* data, std::uint64_t bytes);

struct CheckResult {
  std::uint64_t checked_bytes = 0;  // expected received bytes; unchanged poison does not count
  std::uint64_t wrong_bytes = 0;
  // Of the first wrong byte, if there is one.
  std::uint64_t first_wrong_offset = 0;
  std::uint8_t expected = 0;
  std::uint8_t found = 0;
};

// Compares a rank's output with `segments`. Untouched segments must hold poison.
CheckResult check_output(DataTag tag, int ranks, const std::vector<ExpectedSegment>& segments,
                         const std::uint8_t* output);

// Checks that the bytes still hold poison, such as those after the end of a buffer.
CheckResult check_poison(const std::uint8_t* data, std::uint64_t bytes);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_TEST_DATA_H_
