// The line: NCCL's LL128 protocol moves memory in lines of 128 bytes, and transports split messages at their multiples.
#ifndef CABLEWAY_SIM_WORKLOAD_LINE_H_
#define CABLEWAY_SIM_WORKLOAD_LINE_H_

#include <cstdint>

namespace cableway::workload {

inline constexpr std::uint64_t kLine = 128;  // bytes

// The least multiple of `unit` that is at least `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_LINE_H_
