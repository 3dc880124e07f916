// The contents of a simulation test's messages: unique bytes, so that each message differs from every other one and
// from a shifted copy of itself.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cableway::sim {

// Identifies one message of one flow for the two functions below.
std::uint64_t content_name(std::uint64_t seed, std::size_t flow, std::size_t message);
void write_content(std::uint64_t name, std::span<std::byte> bytes);
std::uint64_t content_hash(std::span<const std::byte> bytes);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_
