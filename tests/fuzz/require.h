// What a fuzz target demands of the code it feeds.
#ifndef CABLEWAY_TESTS_FUZZ_REQUIRE_H_
#define CABLEWAY_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

namespace cableway::fuzz {

// Ends the process, as a fuzzer wants it, if it does not hold.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace cableway::fuzz

#endif  // CABLEWAY_TESTS_FUZZ_REQUIRE_H_
