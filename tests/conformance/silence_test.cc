// A dead host is detected after some seconds of silence; a live one may be silent for longer than that.
#include "tests/conformance/ranks/silence.h"

#include <chrono>

#include "core/linux/tcp/data_socket.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

class SilenceTest : public testing::TestWithParam<int> {};

TEST_P(SilenceTest, LongerThanTheLimitForADeadHostFailsNothing) {
  // 1.5 times the slower of the two ways to detect a dead host (core/linux/tcp/data_socket.h).
  expect_silence_is_tolerated(GetParam(), std::chrono::seconds(host::kSilenceLimitSeconds * 3 / 2));
}

INSTANTIATE_TEST_SUITE_P(Abi, SilenceTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
