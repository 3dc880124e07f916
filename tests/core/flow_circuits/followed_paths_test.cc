// How a flow follows changes of paths, without having lost a circuit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kDirect;
using test::kOverM;

class FollowedPathsTest : public test::SourceCircuitsFixture {
 protected:
  // A flow on the direct path, whose best path is now over m: the set-up for that has been sent.
  void begin_to_move() {
    begin();
    open_first();
    flow_.next_slot = 1;
    paths_.offers = {kOverM};
    circuits_->paths_changed(milliseconds(1));
    run_for(milliseconds(2));
    paths_.reach();
  }
};

// a -ab- b     ab drains; later it does not.
//  \- m -/
TEST_F(FollowedPathsTest, AFlowFollowsAChangeOfItsBestPathWithoutHavingLostACircuit) {
  begin();
  open_first();
  flow_.next_slot = 1;
  paths_.offers = {kOverM};
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U) << "nobody has reported a change";
  circuits_->paths_changed(milliseconds(300));
  run_for(milliseconds(299));
  EXPECT_EQ(dials(), 1U);
  run_for(milliseconds(2));
  ASSERT_EQ(dialled(), "am");
  const CircuitSetup moved = paths_.reach();
  EXPECT_EQ(moved.rank, 0) << "of the offer";
  EXPECT_FALSE(moved.further) << "it replaces the first circuit, so a busy relay takes it";
  EXPECT_EQ(moved.offer, 1U) << "so that the destination prefers it to the first circuit, which has rank 0 too";
  paths_.accept();
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, testing::ElementsAre(CircuitName{0, 1}));
  end_circuit("a better path carries the flow now");
  EXPECT_EQ(dials(), 2U);

  flow_.next_slot = 0;
  paths_.offers = {kDirect, kOverM};
  circuits_->paths_changed(milliseconds(300));
  run_for(milliseconds(301));
  EXPECT_EQ(dialled(), "ab");
  EXPECT_EQ(paths_.reach().offer, 2U);
}

TEST_F(FollowedPathsTest, AFlowStaysWhereItIsWithoutABetterPath) {
  begin();
  open_first();
  circuits_->paths_changed(milliseconds(1));
  run_for(milliseconds(2));
  EXPECT_EQ(paths_.requests, 2U);
  EXPECT_EQ(dials(), 1U) << "its path still is the best";
  paths_.no_path = absl::UnavailableError("all cables of b drain");
  circuits_->paths_changed(milliseconds(1));
  run_for(seconds(60));
  EXPECT_EQ(paths_.requests, 3U);
  EXPECT_EQ(flow_.alive, 1U);
  EXPECT_TRUE(flow_.ended.empty());
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(FollowedPathsTest, AChangeDuringTheFirstSetUpIsFollowedAfterIt) {
  begin();
  paths_.offers = {kOverM};
  circuits_->paths_changed(milliseconds(300));
  run_for(milliseconds(400));
  open_first();
  flow_.next_slot = 1;
  run_for(milliseconds(2000));
  EXPECT_EQ(dialled(), "am");
}

TEST_F(FollowedPathsTest, FurtherChangesDoNotPutOffALook) {
  begin();
  open_first();
  paths_.offers = {kOverM};
  for (int i = 0; i < 4; ++i) {
    circuits_->paths_changed(milliseconds(300));
    run_for(milliseconds(100));
  }
  EXPECT_EQ(dialled(), "am");
}

TEST_F(FollowedPathsTest, ABetterPathThatCannotBeSetUpAtOnceIsTriedAgain) {
  begin_to_move();
  paths_.refuse("the topology may have changed since");
  EXPECT_EQ(flow_.alive, 1U);
  run_for(milliseconds(2001));
  ASSERT_EQ(dials(), 3U);
  EXPECT_EQ(paths_.reach().offer, 1U) << "an offer counts once a circuit of it is open";
}

// The flow has moved, and its first circuit is about to end, when the first path becomes the best again.
TEST_F(FollowedPathsTest, APathThatIsBestAgainBeforeItsCircuitHasEndedIsUsedOnceItHas) {
  begin_to_move();
  paths_.accept();
  paths_.offers = {kDirect, kOverM};
  circuits_->paths_changed(milliseconds(300));
  run_for(seconds(3));
  EXPECT_THAT(flow_.ended, testing::ElementsAre(CircuitName{0, 1}));
  end_circuit("a better path carries the flow now");
  flow_.next_slot = 0;
  run_for(seconds(1));
  ASSERT_EQ(dialled(), "ab");
  EXPECT_EQ(paths_.reach().offer, 2U);
}

}  // namespace
}  // namespace cableway
