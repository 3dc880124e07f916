#include "core/flow/given_chunks.h"

#include <gtest/gtest.h>

#include <vector>

namespace cableway {
namespace {

class GivenChunksTest : public testing::Test {
 protected:
  std::vector<MessageRange> settle(std::uint64_t count) {
    std::vector<MessageRange> again;
    EXPECT_TRUE(given_.settle(count, [&](const MessageRange& chunk) { again.push_back(chunk); }));
    return again;
  }

  GivenChunks given_;
};

TEST_F(GivenChunksTest, AreForgottenOnceTheyHaveLanded) {
  for (std::uint64_t i = 0; i < GivenChunks::kMax; ++i) given_.add({i, 0, 128});
  EXPECT_TRUE(given_.full());
  EXPECT_TRUE(given_.landed(16));
  EXPECT_EQ(given_.size(), GivenChunks::kMax - 16);
  EXPECT_TRUE(given_.landed(10));  // older than what is known
  EXPECT_EQ(given_.size(), GivenChunks::kMax - 16);
  given_.landed_below(20);
  EXPECT_EQ(given_.size(), GivenChunks::kMax - 20);
  EXPECT_FALSE(given_.landed(GivenChunks::kMax + 1));
}

TEST_F(GivenChunksTest, AreSettledByTheCount) {
  for (std::uint64_t i = 0; i < 4; ++i) given_.add({7, 128 * i, 128 * i + 128});
  EXPECT_EQ(settle(3), (std::vector<MessageRange>{{7, 384, 512}}));
  EXPECT_EQ(given_.size(), 0U);
  given_.begin();
  given_.add({8, 0, 0});
  EXPECT_EQ(settle(0), (std::vector<MessageRange>{{8, 0, 0}}));
}

TEST_F(GivenChunksTest, RefuseACountThatCannotBe) {
  const auto ignore = [](const MessageRange&) {};
  for (std::uint64_t i = 0; i < 4; ++i) given_.add({i, 0, 128});
  EXPECT_TRUE(given_.landed(2));
  EXPECT_FALSE(given_.settle(1, ignore));
  EXPECT_FALSE(given_.settle(5, ignore));
  EXPECT_EQ(given_.size(), 2U);
}

TEST_F(GivenChunksTest, KeepAChunkOfADoneMessageBehindALaterOne) {
  given_.add({5, 0, 128});
  given_.add({4, 0, 128});  // sent again
  given_.landed_below(5);
  EXPECT_EQ(given_.size(), 2U);
  given_.landed_below(6);
  EXPECT_EQ(given_.size(), 0U);
}

}  // namespace
}  // namespace cableway
