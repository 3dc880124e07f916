#include "core/session/session_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kRoot = 0;
constexpr std::uint32_t kOwn = 900;

class SessionSharesTest : public testing::Test {
 protected:
  // Opens sessions until one is refused, and returns how many there were.
  std::size_t open_all(std::uint32_t user) {
    std::size_t opened = 0;
    for (; shares_.refusal(user).empty(); ++opened) shares_.opened(user);
    return opened;
  }

  SessionShares shares_{kOwn};
};

TEST_F(SessionSharesTest, AUserHasAQuarter) {
  EXPECT_EQ(open_all(1000), 256U);
  EXPECT_THAT(shares_.refusal(1000), AllOf(HasSubstr("no session left for user 1000: it has 256"),
                                           HasSubstr("this node's 1024"), HasSubstr("end some of its processes")));
  EXPECT_EQ(shares_.refusal(1001), "");
}

TEST_F(SessionSharesTest, UsersTogetherLeaveSomeToRootAndTheNodesUser) {
  EXPECT_EQ(open_all(1000) + open_all(1001) + open_all(1002) + open_all(1003) + open_all(1004), 896U);
  EXPECT_THAT(shares_.refusal(1005),
              AllOf(HasSubstr("no session left for user 1005: 896 of this node's 1024 are taken"),
                    HasSubstr("kept for root and the node's user; user 100")));
  EXPECT_EQ(open_all(kOwn), 128U);
  EXPECT_THAT(shares_.refusal(kRoot),
              AllOf(HasSubstr("no session left: all 1024 of this node are taken; user 100"), HasSubstr(" has 256;")));
}

TEST_F(SessionSharesTest, RootAndTheNodesUserHaveAll) {
  EXPECT_EQ(open_all(kRoot), 1024U);
  EXPECT_THAT(shares_.refusal(kOwn), HasSubstr("user 0 has 1024"));
}

TEST_F(SessionSharesTest, AClosedSessionIsLeftToOthers) {
  open_all(1000);
  shares_.closed(1000);
  EXPECT_EQ(shares_.open(), 255U);
  EXPECT_EQ(open_all(1000), 1U);
  for (int i = 0; i < 256; ++i) shares_.closed(1000);
  EXPECT_EQ(shares_.open(), 0U);
  EXPECT_EQ(open_all(kRoot), 1024U);
}

TEST_F(SessionSharesTest, UsersShareWhatMayWaitToBeRead) {
  shares_.opened(1000);
  shares_.opened(1001);
  shares_.queued(1000, kMaxUnread / 2 - 1);
  EXPECT_TRUE(shares_.may_queue(1000));
  shares_.queued(1000, std::size_t{1} << 24);
  EXPECT_FALSE(shares_.may_queue(1000));
  EXPECT_TRUE(shares_.may_queue(1001)) << "what one user leaves unread takes nothing from another";
  shares_.dequeued(1000, std::size_t{1} << 24);
  EXPECT_TRUE(shares_.may_queue(1000));
  shares_.opened(1002);
  EXPECT_FALSE(shares_.may_queue(1000)) << "with three users its share is a third";
}

}  // namespace
}  // namespace cableway
