// Circuits that carry nothing until the one that does has ended: over which paths, and when they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kDirect;
using test::kOverM;
using test::kOverN;
using testing::ElementsAre;
using testing::IsEmpty;

// Another cable between the ends, or the other function of the same plug.
const PathOffer kParallel = test::path_over({{"ab2", "b"}});
const char* const kMoved = "a better path carries the flow now";

class StandbyTest : public test::SourceCircuitsFixture {
 protected:
  // A flow on the first of these paths that wants a standby. Slots are given in order.
  void begin_on(const PathOffers& offers) {
    set_offers(offers);
    begin();
    open_first();
    ++flow_.next_slot;
    circuits_->want(2);
    paths_.turn();
  }
  // Offers that lead through other nodes than the first one are no members of its bundle.
  void set_offers(const PathOffers& offers) {
    paths_.offers = offers;
    for (PathOffer& offer : paths_.offers) {
      if (offer.hops.size() != offers.front().hops.size()) offer.kind = PathKind::kAlternate;
    }
  }
  void accept() {
    paths_.reach();
    paths_.accept();
    ++flow_.next_slot;
    paths_.turn();
  }
  void offer(const PathOffers& offers) {
    set_offers(offers);
    circuits_->paths_changed(milliseconds(1));
    run_for(milliseconds(2));
  }
};

TEST_F(StandbyTest, EachReasonWhyItCannotBeSetUpIsReportedOnce) {
  begin_on({kDirect, kOverM});
  for (std::size_t tries = 2; tries < 5; ++tries) {
    for (int waits = 0; waits < 100 && dials() < tries; ++waits) run_for(seconds(1));
    ASSERT_EQ(dials(), tries);
    paths_.reach();
    paths_.refuse("no room");
  }
  ASSERT_EQ(flow_.lacks.size(), 1U);
  EXPECT_THAT(flow_.lacks[0], testing::AllOf(testing::HasSubstr("am"), testing::HasSubstr("no room")));
}

TEST_F(StandbyTest, TakesAPathThatSharesNothing) {
  begin_on({kDirect, kOverM, kOverN});
  EXPECT_EQ(dialled(), "am");
  EXPECT_TRUE(paths_.reach().further) << "relays have half of their places for such circuits";
  paths_.accept();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 2U) << "one is enough";
}

TEST_F(StandbyTest, ItsDialDoesNotDelayAFlowThatHasLostItsLastCircuit) {
  begin_on({kDirect, kOverM, kOverN});
  EXPECT_EQ(dialled(), "am");
  run_for(seconds(1));
  end_circuit("cut", 0);
  run_for(milliseconds(50));
  EXPECT_EQ(dials(), 2U) << "it may be done soon";
  run_for(milliseconds(100));
  ASSERT_EQ(dials(), 3U);
  EXPECT_TRUE(paths_.connector.dialled[1]->dropped);
  EXPECT_EQ(dialled(), "an");
  EXPECT_FALSE(paths_.reach().further);
}

TEST_F(StandbyTest, TakesNoPathTwice) {
  begin_on({kDirect});
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
  EXPECT_EQ(paths_.requests, 2U) << "the node reports new paths";
  offer({kDirect, kOverM});
  EXPECT_EQ(dialled(), "am");
}

// Two functions of a plug end with their wire.
TEST_F(StandbyTest, RatherHasOtherRelaysThanAParallelCable) {
  begin_on({kDirect, kParallel, kOverM});
  EXPECT_EQ(dialled(), "am");
}

TEST_F(StandbyTest, TakesAParallelCableWhereThereIsNothingElse) {
  begin_on({kDirect, kParallel});
  EXPECT_EQ(dialled(), "ab2");
  accept();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 2U);
  offer({kDirect, kParallel, kOverM});
  EXPECT_EQ(dialled(), "am") << "better than the parallel one, which stays";
}

TEST_F(StandbyTest, TakesAPathThatLosesPacketsOnlyUntilThereIsAnotherOne) {
  PathOffer lossy = kOverM;
  lossy.last_resort = true;
  begin_on({kDirect, lossy});
  EXPECT_EQ(dialled(), "am") << "better than none";
  accept();
  offer({kDirect, lossy});
  EXPECT_THAT(flow_.ended, IsEmpty());
  offer({kDirect, lossy, kOverN});
  EXPECT_THAT(flow_.ended, ElementsAre(CircuitName{1, 2}));
  end_circuit("its path loses packets", 1);
  EXPECT_EQ(dialled(), "an");
}

TEST_F(StandbyTest, IsReplacedOnAnotherPathWhenItEnds) {
  begin_on({kDirect, kOverM, kOverN});
  accept();
  end_circuit("cut", 1);
  EXPECT_EQ(dialled(), "an") << "its own path has just failed";
}

TEST_F(StandbyTest, APathThatAlwaysFailsIsTriedEverLessOften) {
  begin_on({kDirect, kOverM});
  for (int i = 0; i < 300; ++i) {
    if (dialled() == "am" && !paths_.connector.dialled.back()->dropped) {
      paths_.connector.dialled.back()->connected(absl::UnavailableError("no route"));
    }
    run_for(seconds(1));
  }
  EXPECT_GE(dials(), 8U);
  EXPECT_LE(dials(), 25U);
  EXPECT_THAT(flow_.failures, IsEmpty());
}

TEST_F(StandbyTest, AFlowThatFindsNoneFollowsItsBestPath) {
  begin_on({kDirect});
  offer({kOverM});
  ASSERT_EQ(dialled(), "am");
  EXPECT_EQ(paths_.reach().offer, 1U);
}

// The first circuit's cable drains, and the standby has the only path that is left.
TEST_F(StandbyTest, TheFlowMovesToThePathOfItsStandby) {
  begin_on({kDirect, kOverM});
  accept();
  offer({kOverM});
  ASSERT_EQ(dialled(), "am");
  EXPECT_EQ(dials(), 3U);
  const CircuitSetup moved = paths_.reach();
  EXPECT_EQ(moved.rank, 0) << "so that the destination makes it the primary";
  EXPECT_EQ(moved.offer, 1U);
  paths_.accept();
  run_for(seconds(2));
  EXPECT_THAT(flow_.ended, IsEmpty()) << "the destination has not moved the flow yet";
  run_for(seconds(2));
  EXPECT_THAT(flow_.ended, ElementsAre(CircuitName{1, 2}, CircuitName{0, 1}))
      << "the first standby does not differ from the new circuit, and the drained path is not offered";
  end_circuit(kMoved, 1);
  end_circuit(kMoved, 0);
  run_for(seconds(60));
  EXPECT_EQ(dials(), 3U);
  EXPECT_THAT(flow_.failures, IsEmpty());
}

// D is lost and the flow is on M now; no circuit has the first rank.
TEST_F(StandbyTest, EndsWhenItsPathIsNoLongerOfferedWhileTheFlowIsOnAnother) {
  begin_on({kDirect, kOverM, kOverN});
  accept();
  set_offers({kOverM, kOverN});
  flow_.next_slot = 0;
  end_circuit("cut", 0);
  ASSERT_EQ(dialled(), "an");
  EXPECT_GE(paths_.reach().rank, 2) << "no better than what carries the flow";
  paths_.accept();
  offer({kOverM});
  EXPECT_THAT(flow_.ended, ElementsAre(CircuitName{0, 3}));
}

TEST_F(StandbyTest, LeavesNoTwoCircuitsOnOnePath) {
  begin_on({kDirect, kParallel});
  accept();
  offer({kParallel});
  ASSERT_EQ(dialled(), "ab2");
  EXPECT_EQ(dials(), 3U);
  accept();
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, testing::UnorderedElementsAre(CircuitName{0, 1}, CircuitName{1, 2}));
}

TEST_F(StandbyTest, GivesUpItsPlaceForAMove) {
  begin_on({kDirect, kOverM});
  accept();
  flow_.slots = 0;
  offer({kOverN, kDirect, kOverM});
  EXPECT_EQ(dials(), 2U);
  EXPECT_THAT(flow_.ended, ElementsAre(CircuitName{1, 2}));
  end_circuit("another path needs its place", 1);
  flow_.slots = 4;
  run_for(seconds(3));
  EXPECT_EQ(dialled(), "an");
}

TEST_F(StandbyTest, EndsWhenItsPathIsNoLongerOffered) {
  begin_on({kDirect, kOverM, kOverN});
  accept();
  offer({kDirect, kOverN});
  EXPECT_THAT(flow_.ended, ElementsAre(CircuitName{1, 2}));
  end_circuit("its path is no longer offered", 1);
  EXPECT_EQ(dialled(), "an");
}

TEST_F(StandbyTest, WhatCarriedTheFlowBeforeABetterPathIsTheNewStandby) {
  begin_on({kDirect});
  offer({kOverM, kDirect});
  accept();
  run_for(seconds(60));
  EXPECT_THAT(flow_.ended, IsEmpty());
  EXPECT_EQ(dials(), 2U);
}

}  // namespace
}  // namespace cableway
