#include "sim/workload/schedule_progress.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace cableway::workload {
namespace {

// Rank 1 of three in a chain: receives, adds, and forwards the sum.
Schedule chain(std::uint64_t messages) {
  Schedule schedule;
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto receive = static_cast<StepIndex>(schedule.steps.size());
    schedule.steps.push_back({.kind = StepKind::kReceive, .peer = 0, .channel = 0, .bytes = 128, .capacity = 128});
    schedule.dependencies.push_back(receive);
    schedule.steps.push_back({.kind = StepKind::kAdd,
                              .bytes = 128,
                              .first_dependency = static_cast<std::uint32_t>(schedule.dependencies.size() - 1),
                              .dependency_count = 1});
    schedule.dependencies.push_back(receive + 1);
    schedule.steps.push_back({.kind = StepKind::kSend,
                              .peer = 2,
                              .channel = 0,
                              .bytes = 128,
                              .first_dependency = static_cast<std::uint32_t>(schedule.dependencies.size() - 1),
                              .dependency_count = 1});
  }
  return schedule;
}

constexpr ScheduleProgress::LaneIndex kReceiving = 0;
constexpr ScheduleProgress::LaneIndex kSending = 1;

class ScheduleProgressTest : public testing::Test {
 protected:
  // Posts everything that may be posted on the lane; returns the number of messages.
  int post_all(ScheduleProgress::LaneIndex lane) {
    int posted = 0;
    for (; progress_.due(lane).has_value(); ++posted) progress_.posted(lane);
    return posted;
  }
  void receive_and_add() {
    progress_.completed(kReceiving);
    const auto add = progress_.take_add();
    ASSERT_TRUE(add.has_value());
    progress_.computed(*add);
  }

  ScheduleProgress progress_{2};
};

TEST_F(ScheduleProgressTest, HasALaneForEachDirectionOfAConnection) {
  progress_.prepare(chain(3));
  ASSERT_EQ(progress_.lanes(), 2U);
  EXPECT_EQ(progress_.key(kReceiving), (LaneKey{false, 0, 0}));
  EXPECT_EQ(progress_.key(kSending), (LaneKey{true, 2, 0}));
}

TEST_F(ScheduleProgressTest, RespectsTheLimitInFlightAndDependencies) {
  progress_.prepare(chain(5));
  progress_.start(1);
  EXPECT_EQ(post_all(kReceiving), 2);
  EXPECT_EQ(post_all(kSending), 0);
  EXPECT_FALSE(progress_.take_add().has_value());
  receive_and_add();
  EXPECT_EQ(post_all(kReceiving), 1);
  EXPECT_EQ(post_all(kSending), 1);
  EXPECT_EQ(progress_.oldest(kSending).step, 2U);
}

TEST_F(ScheduleProgressTest, SettlesWhenAllIsPostedAndFinishesWhenAllIsDone) {
  progress_.prepare(chain(1));
  progress_.start(1);
  ASSERT_EQ(post_all(kReceiving), 1);
  receive_and_add();
  EXPECT_FALSE(progress_.advance().settled);
  ASSERT_EQ(post_all(kSending), 1);
  EXPECT_TRUE(progress_.advance().settled);
  EXPECT_EQ(progress_.finished(), 0U);
  progress_.completed(kSending);
  EXPECT_TRUE(progress_.advance().moved);
  EXPECT_EQ(progress_.finished(), 1U);
  EXPECT_FALSE(progress_.advance().moved);
}

TEST_F(ScheduleProgressTest, PostsReceivesOfTheNextOperationAndNothingElseOfIt) {
  progress_.prepare(chain(1));
  progress_.start(3);
  EXPECT_EQ(post_all(kReceiving), 2);  // of operations 0 and 1
  progress_.completed(kReceiving);
  progress_.completed(kReceiving);
  // Only the first operation's sum may be computed, and no third operation has begun.
  const auto add = progress_.take_add();
  ASSERT_TRUE(add.has_value());
  EXPECT_EQ(add->operation, 0U);
  EXPECT_FALSE(progress_.take_add().has_value());
  EXPECT_FALSE(progress_.due(kReceiving).has_value());
  progress_.computed(*add);
  ASSERT_EQ(post_all(kSending), 1);
  EXPECT_TRUE(progress_.advance().settled);
  // Now the second one runs: its sum is due, although the first one's send is not done.
  const auto next = progress_.take_add();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->operation, 1U);
  EXPECT_FALSE(progress_.due(kReceiving).has_value());
  progress_.completed(kSending);
  while (progress_.advance().moved) {
  }
  EXPECT_EQ(progress_.finished(), 1U);
  EXPECT_EQ(post_all(kReceiving), 1);
}

TEST_F(ScheduleProgressTest, ReturnsLanesThatBecameReady) {
  progress_.prepare(chain(2));
  progress_.start(1);
  const auto taken = [&] {
    std::vector<ScheduleProgress::LaneIndex> lanes;
    while (const auto lane = progress_.take_ready_lane()) lanes.push_back(*lane);
    std::sort(lanes.begin(), lanes.end());
    return lanes;
  };
  EXPECT_EQ(taken(), (std::vector<ScheduleProgress::LaneIndex>{kReceiving, kSending}));
  ASSERT_EQ(post_all(kReceiving), 2);
  EXPECT_TRUE(taken().empty());
  receive_and_add();
  EXPECT_EQ(taken(), (std::vector<ScheduleProgress::LaneIndex>{kReceiving, kSending}));
  EXPECT_TRUE(taken().empty());
}

}  // namespace
}  // namespace cableway::workload
