// Peers that are alive but silent for a given time.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_

#include <chrono>

namespace cableway::nccl::test {

// Flows to a neighbour and over a relay are silent for `duration`, in every way in which they may: a receive that is
// not posted, one that is posted but not polled while its data waits, a peer that is stopped. None may fail, and all of
// their messages must arrive afterwards.
void expect_silence_is_tolerated(int version, std::chrono::seconds duration);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_
