// The interface for driving a stub queue pair by a clock: what there is to move, and when to wake users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "tests/sim/stub_rdma/stub_end.h"

namespace cableway::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using StubMoverTest = StubPairTest;

TEST_F(StubMoverTest, CountsMemoryReusedBeforeCompletion) {
  ASSERT_TRUE(send(0, 100).ok());
  network_.deliver_all();
  EXPECT_EQ(network_.changed_too_early(), 0U);
  ASSERT_TRUE(send(0, 100).ok());
  ASSERT_TRUE(left_.pair->deliver());
  left_.memory[50] = std::byte{8};
  ASSERT_TRUE(left_.pair->complete());
  EXPECT_EQ(network_.changed_too_early(), 1U);
}

class NotingMover final : public StubQueuePair::Mover {
 public:
  void on_posted(std::size_t writes) override { posted += writes; }
  void on_fenced(std::size_t late) override { late_at_fences.push_back(late); }

  std::size_t posted = 0;
  std::vector<std::size_t> late_at_fences;
};

TEST_F(StubMoverTest, NotifiesItsMoverOfPosts) {
  NotingMover mover;
  left_.pair->set_mover(mover);
  ASSERT_TRUE(send(0, 100).ok());
  ASSERT_TRUE(send(0, 30).ok());
  EXPECT_EQ(mover.posted, 2U);
  EXPECT_EQ(left_.pair->bytes_in_flight(0), 100U);
  EXPECT_EQ(left_.pair->bytes_in_flight(1), 30U);
  ASSERT_TRUE(left_.pair->deliver());
  EXPECT_EQ(left_.pair->bytes_in_flight(0), 30U);
  left_.pair->fail(absl::InternalError("device fatal"));
  ASSERT_TRUE(send(0, 1).ok());
  EXPECT_EQ(mover.posted, 2U) << "nothing is to be moved of what a dead one is given";
  left_.pair.reset();
  EXPECT_THAT(mover.late_at_fences, ElementsAre(0));
}

TEST_F(StubMoverTest, NotifiesItsMoverOfLateWrites) {
  std::size_t late = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    StubNetwork network({.seed = seed, .max_late_writes = 2});
    StubEnd left(network.add_device());
    StubEnd right(network.add_device());
    std::tie(left.pair, right.pair) = network.make_pair(left.device, right.device);
    NotingMover mover;
    left.pair->set_mover(mover);
    for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(left.post(left.write(right, i, 1)).ok());
    left.pair->fence();
    ASSERT_THAT(mover.late_at_fences, SizeIs(1));
    for (std::size_t i = 0; i < mover.late_at_fences[0]; ++i) EXPECT_TRUE(right.pair->deliver_late());
    EXPECT_FALSE(right.pair->deliver_late());
    late += mover.late_at_fences[0];
  }
  EXPECT_GT(late, 0U);
}

TEST_F(StubMoverTest, HasReportsUntilTheyArePolled) {
  EXPECT_FALSE(right_.pair->has_reports());
  ASSERT_TRUE(left_.post(notifying(left_.write(right_, 0, 1), 1)).ok());
  network_.deliver_all();
  EXPECT_TRUE(right_.pair->has_reports());
  EXPECT_FALSE(left_.pair->has_reports()) << "no report was asked for";
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_FALSE(right_.pair->has_reports());
  right_.pair->fail(absl::InternalError("device fatal"));
  EXPECT_TRUE(right_.pair->has_reports());
  right_.pair->fence();
  EXPECT_FALSE(right_.pair->has_reports());
}

TEST_F(StubMoverTest, DetectsWhetherThePeerIsDestroyed) {
  const auto alone = network_.make_queue_pair(left_.device);
  EXPECT_FALSE(alone->other_end_is_gone()) << "it has none yet";
  EXPECT_FALSE(left_.pair->other_end_is_gone());
  right_.pair->fence();
  EXPECT_TRUE(left_.pair->other_end_is_gone());
}

}  // namespace
}  // namespace cableway::sim
