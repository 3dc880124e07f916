#include "core/circuit/seen_flows.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cableway {
namespace {

FlowNonce nonce_of(std::uint64_t number) {
  FlowNonce nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

TEST(SeenFlows, RecognisesEachOfTheLast) {
  SeenFlows seen;
  for (std::uint64_t i = 0; i < SeenFlows::kMax; ++i) EXPECT_TRUE(seen.first_use(nonce_of(i), {0, 1}));
  for (std::uint64_t i = 0; i < SeenFlows::kMax; ++i) EXPECT_FALSE(seen.first_use(nonce_of(i), {0, 1})) << i;
}

TEST(SeenFlows, TellsTheCircuitsOfAFlowApart) {
  SeenFlows seen;
  EXPECT_TRUE(seen.first_use(nonce_of(1), {0, 1}));
  EXPECT_TRUE(seen.first_use(nonce_of(1), {0, 2}));
  EXPECT_TRUE(seen.first_use(nonce_of(1), {1, 1}));
  EXPECT_TRUE(seen.contains(nonce_of(1), {0, 2}));
  EXPECT_FALSE(seen.contains(nonce_of(1), {1, 2}));
  EXPECT_FALSE(seen.first_use(nonce_of(1), {0, 1}));
}

TEST(SeenFlows, ForgetsOnlyTheOldest) {
  SeenFlows seen;
  for (std::uint64_t i = 0; i < 3 * SeenFlows::kMax; ++i) EXPECT_TRUE(seen.first_use(nonce_of(i), {0, 1}));
  // A repeated nonce does not move to the end of the eviction order.
  EXPECT_FALSE(seen.first_use(nonce_of(2 * SeenFlows::kMax), {0, 1}));
  EXPECT_TRUE(seen.first_use(nonce_of(2 * SeenFlows::kMax - 1), {0, 1}));
  EXPECT_TRUE(seen.first_use(nonce_of(2 * SeenFlows::kMax), {0, 1}));
  EXPECT_FALSE(seen.first_use(nonce_of(2 * SeenFlows::kMax + 2), {0, 1}));
}

}  // namespace
}  // namespace cableway
