// When a flow's source sets up circuits, over which paths, and when it gives up. The paths:
//
//        +--am-- m --mb--+
//   a ---+--an-- n --nb--+--- b
//        +-------ab------+
#include "core/flow_circuits/source_circuits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"
#include "routing/topology/cable_name.h"
#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kDirect;
using test::kOverM;
using test::kOverN;
using testing::HasSubstr;
using testing::SizeIs;

using SourceCircuitsTest = test::SourceCircuitsFixture;

TEST_F(SourceCircuitsTest, AnotherCircuitAvoidsThePathOfTheOneThatEnded) {
  begin();
  open_first();
  end_circuit();
  EXPECT_EQ(dialled(), "am");
  EXPECT_EQ(paths_.reach().circuit, (CircuitName{0, 2}));
  paths_.accept();
  end_circuit();
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.accept();
  end_circuit();
  EXPECT_EQ(dialled(), "ab") << "its failure is longest ago";
  EXPECT_TRUE(flow_.failures.empty());
}

// If the failed cable is the one that both paths share, both are bad; the path that failed itself is the worse choice.
TEST_F(SourceCircuitsTest, OfPathsThatShareWhatFailedTheOneTriedLongestAgoIsNext) {
  const PathOffer over_m = test::path_over({{"am", "m"}, {"ms", "s"}, {"sb", "b"}});
  const PathOffer over_n = test::path_over({{"an", "n"}, {"ns", "s"}, {"sb", "b"}});
  paths_.offers = {over_m, over_n};
  begin();
  open_first();
  EXPECT_EQ(dialled(), "am");
  end_circuit();
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.refuse("node s: no room");
  run_for(milliseconds(200));
  EXPECT_EQ(dialled(), "am");
}

// The source does not know that sb is silent; s knows it.
TEST_F(SourceCircuitsTest, APathThatLosesPacketsIsTheLastResort) {
  PathOffer lossy = kDirect;
  lossy.last_resort = true;
  paths_.offers = {test::path_over({{"am", "m"}, {"ms", "s"}, {"sb", "b"}}),
                   test::path_over({{"an", "n"}, {"ns", "s"}, {"sb", "b"}}), lossy};
  begin();
  open_first();
  end_circuit();
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.refuse("node s: the cable to node b is silent");
  run_for(milliseconds(100));
  EXPECT_EQ(dialled(), "ab");
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(2));
  // Later than that a path which loses no packets may work again.
  end_circuit();
  EXPECT_EQ(dialled(), "am");
}

TEST_F(SourceCircuitsTest, ASilentPathIsGivenUpAfterTwoSecondsForTheNextOne) {
  paths_.asks = false;
  begin();
  open_first();
  end_circuit();
  run_for(milliseconds(1990));
  EXPECT_EQ(dialled(), "am");
  run_for(milliseconds(50));
  EXPECT_EQ(dialled(), "an");
}

TEST_F(SourceCircuitsTest, APathWhosePortIsLostMeanwhileIsGivenUpAtOnce) {
  const std::string cable = routing::discovered_cable_name("a", "eth0", "m", "eth1");
  paths_.offers[1] = test::path_over({{cable, "m"}, {"mb", "b"}});
  begin();
  open_first();
  end_circuit();
  ASSERT_EQ(dialled(), cable);
  const std::vector<std::uint32_t> released = flow_.released;
  circuits_->lose_port({.interface = "eth1", .reason = "the port of another dial"});
  circuits_->lose_port({.interface = "eth0", .reason = "its RDMA device", .only_rdma = true});
  run_for(milliseconds(100));
  EXPECT_EQ(dialled(), cable);
  EXPECT_EQ(flow_.released, released);
  circuits_->lose_port({.interface = "eth0", .reason = "the port has lost its carrier"});
  EXPECT_THAT(flow_.released, SizeIs(released.size() + 1));
  run_for(milliseconds(25));
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.accept();
  EXPECT_EQ(flow_.alive, 1U);
}

TEST_F(SourceCircuitsTest, AttemptsThatFailAtOnceArePacedMoreAndMoreSlowly) {
  paths_.asks = false;
  begin();
  open_first();
  end_circuit();
  const std::size_t before = dials();
  for (int i = 0; i < 1000 && flow_.failures.empty(); ++i) {
    if (!paths_.connector.dialled.back()->dropped)
      paths_.connector.dialled.back()->connected(absl::UnavailableError("no route"));
    run_for(milliseconds(10));
  }
  const std::size_t attempts = dials() - before;
  EXPECT_GE(attempts, 10U);
  EXPECT_LE(attempts, 20U);
}

TEST_F(SourceCircuitsTest, TheFlowFailsAfterItsWaitWithTheCauseAndTheLastAttempt) {
  begin(seconds(3));
  open_first();
  paths_.no_path = absl::UnavailableError("node a has no path to node b");
  end_circuit("node a port eth0: the cable is silent");
  run_for(milliseconds(2900));
  EXPECT_TRUE(flow_.failures.empty());
  run_for(milliseconds(400));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(),
            "node a port eth0: the cable is silent; no other path to node b within 3 s (last: node a has no path to "
            "node b)");
}

TEST_F(SourceCircuitsTest, OnlyTimeInWhichTheApplicationWaitsCounts) {
  begin(seconds(3));
  open_first();
  paths_.no_path = absl::UnavailableError("no path");
  flow_.waiting = false;
  end_circuit();
  run_for(seconds(60));
  EXPECT_TRUE(flow_.failures.empty());
  flow_.waiting = true;
  run_for(milliseconds(3300));
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

TEST_F(SourceCircuitsTest, AFlowThatNobodyWaitsForGetsNoOtherCircuitUntilSomebodyDoes) {
  begin();
  open_first();
  flow_.waiting = false;
  end_circuit("the other end has closed it");
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
  flow_.waiting = true;
  run_for(milliseconds(110));
  EXPECT_EQ(dials(), 2U);
}

TEST_F(SourceCircuitsTest, AMessageThatIsPostedWithoutACircuitGetsOneAtOnce) {
  begin();
  circuits_->posted();
  EXPECT_EQ(dials(), 1U) << "the first one is on its way";
  open_first();
  circuits_->posted();
  EXPECT_EQ(dials(), 1U) << "it has one";
  flow_.waiting = false;
  end_circuit();
  run_for(milliseconds(10));
  flow_.waiting = true;
  circuits_->posted();
  paths_.turn();
  EXPECT_EQ(dials(), 2U);
  paths_.reach();
  paths_.refuse("node m: no room");
  circuits_->posted();
  paths_.turn();
  EXPECT_EQ(dials(), 2U) << "attempts that fail are paced";
}

TEST_F(SourceCircuitsTest, AFlowThatOnlyItsDestinationWaitsForGetsACircuitWhenTheDestinationAsks) {
  begin();
  open_first();
  flow_.waiting = false;
  end_circuit();
  run_for(seconds(2));
  EXPECT_EQ(dials(), 1U);
  circuits_->asked();
  paths_.turn();
  EXPECT_EQ(dials(), 2U);
  paths_.reach();
  paths_.refuse("node m: no room");
  run_for(milliseconds(100));
  EXPECT_EQ(dials(), 3U) << "until it has one";
  paths_.reach();
  paths_.accept();
  end_circuit();
  run_for(seconds(2));
  EXPECT_EQ(dials(), 3U) << "the destination has not asked since";
}

TEST_F(SourceCircuitsTest, WithoutAWaitTheFlowEndsWithItsLastCircuit) {
  begin(seconds(0));
  open_first();
  end_circuit("cut");
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(), "cut");
  EXPECT_EQ(dials(), 1U);
}

TEST_F(SourceCircuitsTest, ADestinationThatHasEndedIsNamedWithTheCause) {
  begin();
  open_first();
  end_circuit("the peer closed the connection");
  paths_.reach();
  paths_.refuse("node m cannot reach node b: connection refused", FailureScope::kFlow);
  EXPECT_TRUE(flow_.failures.empty()) << "the process may not listen there yet";
  run_for(milliseconds(260));
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.refuse("node n cannot reach node b: connection refused", FailureScope::kFlow);
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()),
              testing::StartsWith("its other end has ended (seen here as: the peer closed the connection): no circuit "
                                  "a -an-> n -nb-> b: node n cannot reach"));
}

TEST_F(SourceCircuitsTest, AFaultIsNamedBeforeTheDestinationsEnd) {
  begin();
  open_first();
  end_circuit("node a port eth1: the port has lost its carrier");
  for (int i = 0; i < 2; ++i) {
    paths_.reach();
    paths_.refuse("node b: gone", FailureScope::kFlow);
    run_for(milliseconds(260));
  }
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()),
              testing::StartsWith("node a port eth1: the port has lost its carrier; no circuit "));
}

TEST_F(SourceCircuitsTest, ARefusalBesideALiveCircuitEndsNothing) {
  begin();
  open_first();
  circuits_->want(2);
  for (std::size_t dial = 2; dial <= 4; ++dial) {
    for (int i = 0; i < 60 && dials() < dial; ++i) run_for(seconds(1));
    ASSERT_EQ(dials(), dial);
    paths_.turn();
    paths_.reach();
    paths_.refuse("connection refused", FailureScope::kFlow);
  }
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(SourceCircuitsTest, WaitsWhileNoSlotIsFree) {
  begin();
  open_first();
  flow_.slots = 0;
  end_circuit();
  EXPECT_EQ(dials(), 1U);
  flow_.slots = 1;
  run_for(milliseconds(100));
  EXPECT_EQ(dials(), 2U);
}

TEST_F(SourceCircuitsTest, TheBestPathIsUsedAgainOnceItHasNotFailedForAWhile) {
  begin();
  open_first();
  end_circuit();
  EXPECT_EQ(paths_.reach().rank, 1);
  paths_.accept();
  flow_.next_slot = 1;
  run_for(milliseconds(2100));
  ASSERT_EQ(dialled(), "ab") << "after 2 s";
  EXPECT_EQ(paths_.reach().rank, 0);
  paths_.accept();
  EXPECT_EQ(flow_.alive, 2U);
  EXPECT_TRUE(flow_.ended.empty()) << "the destination first makes the better one the primary";
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, testing::ElementsAre(CircuitName{0, 2}));
  end_circuit("a better path carries the flow now");
  const std::size_t before = dials();
  run_for(seconds(60));
  EXPECT_EQ(dials(), before);
  end_circuit("cut", 1);
  EXPECT_EQ(dialled(), "am") << "the path that was left has not failed";
}

TEST_F(SourceCircuitsTest, ThePathThatTheTopologyHadDroppedIsUsedAgain) {
  begin();
  open_first();
  paths_.offers = {kOverM};
  end_circuit();
  EXPECT_EQ(paths_.reach().rank, 0) << "it is the best of what there is";
  paths_.accept();
  flow_.next_slot = 1;
  run_for(seconds(5));
  EXPECT_EQ(dials(), 2U);
  paths_.offers = {kDirect, kOverM};
  run_for(milliseconds(2100));
  EXPECT_EQ(dialled(), "ab");
  EXPECT_EQ(paths_.reach().rank, 0);
  paths_.accept();
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, testing::ElementsAre(CircuitName{0, 2}));
}

TEST_F(SourceCircuitsTest, CircuitsThatJoinAndEndAgainAndAgainArePacedAndEndTheFlowInTime) {
  begin(seconds(3));
  open_first();
  std::size_t joined = 0;
  for (int i = 0; i < 5000 && flow_.failures.empty(); ++i) {
    if (flow_.alive > 0) {
      ++joined;
      end_circuit("the data path is broken");
    }
    if (!paths_.connector.dialled.back()->dropped) {
      paths_.reach();
      paths_.accept();
    }
    run_for(milliseconds(1));
  }
  EXPECT_THAT(flow_.failures, SizeIs(1));
  EXPECT_LE(joined, 20U);
}

// As over a single cable that flaps.
TEST_F(SourceCircuitsTest, CircuitsThatEndSoonButCarryDataDoNotEndTheFlow) {
  paths_.offers = {kDirect};
  paths_.asks = false;
  begin(seconds(3));
  open_first();
  const auto flap = [&](int times) {
    for (int i = 0; i < times && flow_.failures.empty(); ++i) {
      run_for(milliseconds(700));
      if (flow_.alive > 0) end_circuit("the port has lost its carrier");
      run_for(milliseconds(1100));
      if (paths_.connector.dialled.back()->dropped) continue;
      paths_.reach();
      paths_.accept();
    }
  };
  for (int i = 0; i < 20; ++i) {
    ++flow_.landed;
    flap(1);
  }
  EXPECT_THAT(flow_.failures, testing::IsEmpty());
  EXPECT_GE(flow_.joined.size(), 20U);
  flap(4);
  ASSERT_THAT(flow_.failures, SizeIs(1)) << "nothing arrives any more";
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("no other path to node b within 3 s"));
}

TEST_F(SourceCircuitsTest, ABestPathThatFailsAgainAndAgainIsTriedLessAndLessOften) {
  begin();
  open_first();
  end_circuit();
  paths_.reach();
  paths_.accept();
  flow_.next_slot = 1;
  std::size_t returns = 0;
  for (int i = 0; i < 1200; ++i) {
    run_for(milliseconds(100));
    if (dialled() != "ab" || paths_.connector.dialled.back()->dropped) continue;
    ++returns;
    paths_.reach();
    paths_.accept();
    end_circuit("cut", 1);
  }
  EXPECT_GE(returns, 6U);
  EXPECT_LE(returns, 10U) << "in 120 s: after 2, 4, 8, 16 s, then every 30 s";
}

TEST_F(SourceCircuitsTest, WithoutAPathForACircuitItAsksItsDestination) {
  begin();
  open_first();
  paths_.no_path = absl::UnavailableError("node a has no path to node b");
  paths_.inquiry_offers = {kDirect};
  end_circuit("large packets are lost");
  EXPECT_EQ(dials(), 1U);
  run_for(milliseconds(500));
  ASSERT_EQ(dials(), 2U);
  const CircuitSetup setup = paths_.reach();
  EXPECT_EQ(setup.purpose, SetupPurpose::kInquiry);
  EXPECT_EQ(setup.from_node, "a");
  EXPECT_EQ(setup.hops.back().to_port, 4002);
  EXPECT_TRUE(verify_flow_proof(identity_.cookie, setup));
  paths_.refuse("node b: the flow is open here");
  run_for(milliseconds(500));
  ASSERT_EQ(dials(), 3U);
  for (const int answer : {1, 2}) {
    paths_.reach();
    paths_.refuse("node b: the application has closed the flow", FailureScope::kFlow);
    EXPECT_THAT(flow_.failures, SizeIs(answer - 1)) << "its process may have listened a moment late";
    run_for(milliseconds(400));
  }
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message().substr(0, 24), "large packets are lost; ");
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("the application has closed the flow"));
}

TEST_F(SourceCircuitsTest, WhileNobodyWaitsItAsksNothing) {
  begin();
  open_first();
  paths_.no_path = absl::UnavailableError("node a has no path to node b");
  paths_.inquiry_offers = {kDirect};
  flow_.waiting = false;
  end_circuit();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

TEST_F(SourceCircuitsTest, AnswersThatComeAfterItsEndAreDropped) {
  begin();
  circuits_->stop();
  run_for(seconds(60));
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_TRUE(flow_.joined.empty());
}

}  // namespace
}  // namespace cableway
