// What the messages of a simulation test say: bytes that nothing else says, so that each can be told from every other
// one, and from itself moved.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cableway::sim {

// The name of one message of one flow, for the two functions below.
std::uint64_t content_name(std::uint64_t seed, std::size_t flow, std::size_t message);
void write_content(std::uint64_t name, std::span<std::byte> bytes);
std::uint64_t content_hash(std::span<const std::byte> bytes);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_MESSAGE_CONTENT_H_
