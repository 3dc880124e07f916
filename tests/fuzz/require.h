// The assertion of fuzz targets.
#ifndef CABLEWAY_TESTS_FUZZ_REQUIRE_H_
#define CABLEWAY_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

namespace cableway::fuzz {

// Aborts the process, which a fuzzer reports as a finding, if `holds` is false.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace cableway::fuzz

#endif  // CABLEWAY_TESTS_FUZZ_REQUIRE_H_
