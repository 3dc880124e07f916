// Peers that are alive and silent, for as long as a test likes.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_

#include <chrono>

namespace cableway::nccl::test {

// Flows to a neighbour and over a relay stand still for `duration`, in every way in which they may: a receive that is
// not posted, one that is posted and not asked for while its data waits, a peer that is stopped. None may fail, and all
// of their messages arrive afterwards.
void expect_silence_is_borne(int version, std::chrono::seconds duration);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_SILENCE_H_
