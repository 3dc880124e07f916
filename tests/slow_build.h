// Builds in which everything takes several times as long: under a sanitizer, or emulated. Random tests run fewer cases
// there.
#ifndef CABLEWAY_TESTS_SLOW_BUILD_H_
#define CABLEWAY_TESTS_SLOW_BUILD_H_

namespace cableway::test {

#if defined(CABLEWAY_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__) || defined(CABLEWAY_EMULATED)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif

// How many of `all` random cases this build runs.
template <typename Count>
constexpr Count cases_here(Count all) {
  return kSlowBuild ? all / 5 : all;
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_SLOW_BUILD_H_
