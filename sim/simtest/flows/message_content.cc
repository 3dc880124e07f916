#include "sim/simtest/flows/message_content.h"

#include <algorithm>
#include <cstring>

#include "sim/simtest/plan/simtest_random.h"
#include "sim/simtest/rules/trace_hash.h"

namespace cableway::sim {

std::uint64_t content_name(std::uint64_t seed, std::size_t flow, std::size_t message) {
  return SimtestRandom::mix(seed * 0x9E3779B97F4A7C15ULL + flow * 0x100000001B3ULL + message);
}

void write_content(std::uint64_t name, std::span<std::byte> bytes) {
  std::uint64_t word = name;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    word = word * 0x5851F42D4C957F2DULL + 0x14057B7EF767814FULL;
    const std::uint64_t shown = word ^ (word >> 32);
    std::memcpy(bytes.data() + at, &shown, std::min(sizeof shown, bytes.size() - at));
  }
}

std::uint64_t content_hash(std::span<const std::byte> bytes) {
  TraceHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace cableway::sim
