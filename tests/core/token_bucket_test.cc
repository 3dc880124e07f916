#include "core/token_bucket.h"

#include <gtest/gtest.h>

namespace cableway {
namespace {

using std::chrono::milliseconds;

Instant at(int ms) {
  return Instant{milliseconds(ms)};
}

int taken(TokenBucket& bucket, Instant now) {
  int count = 0;
  while (bucket.take(now)) ++count;
  return count;
}

TEST(TokenBucket, GivesABurstAndThenOneEverySoOften) {
  TokenBucket bucket(milliseconds(10), 3);
  EXPECT_EQ(taken(bucket, at(0)), 3);
  EXPECT_EQ(bucket.due(), at(10));
  EXPECT_EQ(taken(bucket, at(9)), 0);
  EXPECT_EQ(taken(bucket, at(10)), 1);
  EXPECT_EQ(taken(bucket, at(25)), 1);
  EXPECT_EQ(taken(bucket, at(30)), 1) << "half of it was there before";
  EXPECT_EQ(taken(bucket, at(1000)), 3) << "it holds no more";
}

TEST(TokenBucket, WhoTakesMoreThanThereAreLeavesADebt) {
  TokenBucket bucket(milliseconds(10), 3);
  EXPECT_TRUE(bucket.take(at(0), 8));
  EXPECT_EQ(bucket.due(), at(60));
  EXPECT_FALSE(bucket.take(at(59)));
  EXPECT_TRUE(bucket.take(at(60)));
}

}  // namespace
}  // namespace cableway
