// Random numbers that depend on the seed only: the standard's distributions differ between libraries.
//
// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_RANDOM_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.h"

namespace cableway::sim {

class SimtestRandom {
 public:
  explicit SimtestRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15ULL); }
  // From 0 to `bound` - 1; `bound` is not 0. The bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // Both bounds are inclusive.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  Duration between(Duration least, Duration most) {
    return Duration(static_cast<Duration::rep>(
        between(static_cast<std::uint64_t>(least.count()), static_cast<std::uint64_t>(most.count()))));
  }
  bool happens(std::uint32_t per_mille) { return below(1000) < per_mille; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  static std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_RANDOM_H_
