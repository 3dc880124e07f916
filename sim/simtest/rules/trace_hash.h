// A hash over everything observable in a run: runs that differ anywhere have, collisions aside, different hashes.
#ifndef CABLEWAY_SIM_SIMTEST_RULES_TRACE_HASH_H_
#define CABLEWAY_SIM_SIMTEST_RULES_TRACE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace cableway::sim {

class TraceHash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ULL;
    value_ ^= value_ >> 29;
  }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      add(word);
    }
    std::uint64_t rest = 0;
    if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    add(rest);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCB0000000000CAB1ULL;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_RULES_TRACE_HASH_H_
