// When and over which paths a flow's source sets up its first circuit, and when it gives up. The paths:
//
//        +--am-- m --mb--+
//   a ---+--an-- n --nb--+--- b
//        +-------ab------+
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"
#include "core/flow_circuits/source_circuits.h"
#include "routing/topology/cable_name.h"
#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kOverM;
using testing::HasSubstr;
using testing::SizeIs;

using FirstCircuitTest = test::SourceCircuitsFixture;

TEST_F(FirstCircuitTest, TheFirstCircuitTakesTheBestPathAndCarriesTheFlowsIdentity) {
  begin();
  ASSERT_EQ(dials(), 1U);
  EXPECT_EQ(dialled(), "ab");
  const CircuitSetup setup = paths_.reach();
  EXPECT_EQ(setup.purpose, SetupPurpose::kCircuit);
  EXPECT_EQ(setup.nonce, identity_.nonce);
  EXPECT_EQ(setup.circuit, (CircuitName{0, 1}));
  EXPECT_EQ(setup.source_port, 4001);
  EXPECT_EQ(setup.path_wait_ms, 30000U);
  EXPECT_EQ(setup.from_node, "a");
  EXPECT_EQ(setup.hops.back().to_port, 4002);
  EXPECT_TRUE(verify_flow_proof(identity_.cookie, setup));
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(FirstCircuitTest, AFirstCircuitThatFailsIsTriedOnceOverEachPathWhereAFlowIsToFailAtOnce) {
  begin(milliseconds(0));
  paths_.reach();
  paths_.refuse("node m: no room");
  paths_.turn();
  EXPECT_EQ(dialled(), "am");
  paths_.reach();
  paths_.refuse("no");
  paths_.turn();
  EXPECT_EQ(dialled(), "an");
  paths_.reach();
  paths_.refuse("no");
  paths_.turn();
  EXPECT_EQ(dials(), 3U);
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("node m: no room")) << "the first reason";
  EXPECT_THAT(flow_.released, testing::ElementsAre(1, 2, 3));
}

// As when a relay does not trust the cable yet.
TEST_F(FirstCircuitTest, AFirstCircuitThatFailsOverEachPathIsTriedAgainForTwoSeconds) {
  paths_.offers = {kOverM};
  begin();
  paths_.reach();
  paths_.refuse("node m does not use cable mb now");
  run_for(milliseconds(610));
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_EQ(dials(), 2U);
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(FirstCircuitTest, AFirstCircuitThatFailsOverEachPathFailsAfterTwoSecondsWithTheFirstReason) {
  paths_.offers = {kOverM};
  begin();
  paths_.reach();
  paths_.refuse("node m does not use cable mb now");
  while (flow_.failures.empty() && dials() < 10) {
    run_for(milliseconds(610));
    if (!flow_.failures.empty()) break;
    paths_.reach();
    paths_.refuse("another reason");
  }
  EXPECT_EQ(dials(), 5U) << "one at the start, then one in each 0.6 s";
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("does not use cable mb"));
}

// As when many jobs begin at once.
TEST_F(FirstCircuitTest, AFirstCircuitWaitsForARelayThatHasNoRoomNow) {
  paths_.offers = {kOverM};
  begin();
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(dials(), i + 1U);
    paths_.reach();
    paths_.refuse("node m has no room now", FailureScope::kBusy);
    run_for(milliseconds(610));
    ASSERT_TRUE(flow_.failures.empty()) << i;
  }
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
}

TEST_F(FirstCircuitTest, AFirstCircuitFailsWhereARelayHasNoRoomWithinTheLimit) {
  paths_.offers = {kOverM};
  begin();
  for (int i = 0; i < 20 && flow_.failures.empty(); ++i) {
    paths_.reach();
    paths_.refuse("node m has no room now", FailureScope::kBusy);
    run_for(milliseconds(610));
  }
  EXPECT_EQ(dials(), 17U) << "one at the start, then one in each 0.6 s of 10 s";
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("node m has no room now"));
}

TEST_F(FirstCircuitTest, AFirstCircuitThatGetsNoAnswerLeavesTimeToTheOtherPaths) {
  begin();
  EXPECT_EQ(dialled(), "ab");
  EXPECT_EQ(paths_.reach().budget_ms, 7999U) << "less the time since its start";
  run_for(milliseconds(8010));
  EXPECT_EQ(dialled(), "am");
  run_for(milliseconds(1000));
  EXPECT_EQ(dialled(), "an") << "the last path has the rest";
  run_for(milliseconds(900));
  EXPECT_TRUE(flow_.failures.empty());
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
}

TEST_F(FirstCircuitTest, APathThatRefusesIsTriedAgainAfterOneThatGaveNoAnswer) {
  paths_.offers = {test::kDirect, kOverM};
  begin();
  run_for(milliseconds(8010));
  EXPECT_EQ(dialled(), "am");
  paths_.reach();
  paths_.refuse("node m does not use cable mb now");
  run_for(milliseconds(610));
  EXPECT_TRUE(flow_.failures.empty());
  for (int i = 0; i < 50 && dialled() != "am"; ++i) run_for(milliseconds(100));
  ASSERT_EQ(dialled(), "am");
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
}

TEST_F(FirstCircuitTest, APathThatHangsAfterOneThatRefusesLeavesItTime) {
  paths_.offers = {test::kDirect, kOverM};
  begin();
  paths_.reach();
  paths_.refuse("node b does not use cable ab now");
  run_for(milliseconds(10));
  EXPECT_EQ(dialled(), "am");
  run_for(milliseconds(8510));
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_EQ(dialled(), "ab");
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
}

// The relay ends its own dial after nine tenths of the time, and then refuses.
TEST_F(FirstCircuitTest, APathThatRefusesIsTriedAgainAfterOneThatHungBehindItsRelay) {
  paths_.offers = {kOverM, test::kDirect};
  begin();
  paths_.reach();
  run_for(milliseconds(7200));
  paths_.refuse("node m: cable mb: no answer");
  run_for(milliseconds(10));
  EXPECT_EQ(dialled(), "ab");
  paths_.reach();
  paths_.refuse("node b does not use cable ab now");
  for (int i = 0; i < 50 && dials() < 4; ++i) {
    run_for(milliseconds(100));
    if (dialled() != "am" || dials() < 3) continue;
    paths_.reach();
    paths_.refuse("no");
    run_for(milliseconds(10));
  }
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_EQ(dialled(), "ab");
  paths_.reach();
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
}

// Each path is tried once, so only untried ones need time.
TEST_F(FirstCircuitTest, WhereAFlowIsToFailAtOnceTheLastPathHasAllOfTheTime) {
  paths_.offers = {test::kDirect, kOverM};
  begin(milliseconds(0));
  paths_.reach();
  paths_.refuse("no");
  paths_.turn();
  EXPECT_EQ(dialled(), "am");
  EXPECT_GE(paths_.reach().budget_ms, 9990U);
}

TEST_F(FirstCircuitTest, ItEndsAtItsLimitWhileItsNodeWaitsForAPath) {
  begin();
  paths_.reach();
  paths_.no_path = absl::UnavailableError("node a has lost its path to node b");
  paths_.no_path_after = seconds(8);
  paths_.refuse("node m does not use cable mb now");
  run_for(milliseconds(9900));
  EXPECT_TRUE(flow_.failures.empty());
  run_for(milliseconds(200));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("does not use cable mb"));
  run_for(seconds(20));
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

TEST_F(FirstCircuitTest, AFlowWhoseNodeDoesNotAnswerTriesAgainForTwoSeconds) {
  paths_.no_path = absl::UnavailableError("no node runs here");
  begin();
  run_for(milliseconds(1500));
  EXPECT_TRUE(flow_.failures.empty());
  run_for(milliseconds(1600));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(), "no node runs here");
  EXPECT_LE(paths_.requests, 10U);
}

TEST_F(FirstCircuitTest, AFlowWithoutAPathFailsWithTheNodesReason) {
  paths_.no_path = absl::NotFoundError("node a knows of no node b");
  begin(milliseconds(0));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(), "node a knows of no node b");
  EXPECT_FALSE(ends_flow(flow_.failures[0])) << "only the destination may say that";
}

TEST_F(FirstCircuitTest, ANodeThatGoesAwayWhileTheFirstCircuitFailsIsAskedAgainUntilTheLimit) {
  begin();
  paths_.reach();
  paths_.no_path = absl::UnavailableError("no node runs here");
  paths_.refuse("node m: no room");
  run_for(seconds(5));
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_LE(paths_.requests, 20U) << "its errors may come at once";
  run_for(seconds(6));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("node m: no room"));
}

TEST_F(FirstCircuitTest, ADestinationThatDoesNotKnowTheFlowEndsItAtOnce) {
  begin();
  paths_.reach();
  paths_.refuse("node b: it no longer listens", FailureScope::kFlow);
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_TRUE(ends_flow(flow_.failures[0]));
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

TEST_F(FirstCircuitTest, AFirstCircuitWhosePortIsLostTakesTheNextPath) {
  const std::string cable = routing::discovered_cable_name("a", "eth0", "b", "eth1");
  paths_.offers[0] = test::path_over({{cable, "b"}});
  begin();
  ASSERT_EQ(dialled(), cable);
  circuits_->lose_port({.interface = "eth0", .reason = "the port has lost its carrier"});
  paths_.turn();
  EXPECT_EQ(dialled(), "am");
  paths_.reach();
  paths_.accept();
  EXPECT_EQ(flow_.alive, 1U);
  EXPECT_TRUE(flow_.failures.empty());
}

// The only cable loses its carrier for a moment.
TEST_F(FirstCircuitTest, AFirstCircuitWithoutAnotherPathWaitsForItsPort) {
  const std::string cable = routing::discovered_cable_name("a", "eth0", "b", "eth1");
  const PathOffers offers = {test::path_over({{cable, "b"}})};
  for (const bool is_still_offered : {true, false}) {
    SCOPED_TRACE(is_still_offered);
    paths_.offers = offers;
    begin();
    circuits_->lose_port({.interface = "eth0", .reason = "the port has lost its carrier"});
    if (!is_still_offered) paths_.no_path = absl::UnavailableError("no path");
    run_for(seconds(3));
    EXPECT_TRUE(flow_.failures.empty());
    paths_.no_path = absl::OkStatus();
    run_for(milliseconds(1600));
    paths_.reach();
    paths_.accept();
    EXPECT_EQ(flow_.alive, 1U);
    flow_.alive = 0;  // for the next one
  }
  paths_.offers = offers;
  begin();
  circuits_->lose_port({.interface = "eth0", .reason = "the port has lost its carrier"});
  paths_.no_path = absl::UnavailableError("no path");
  run_for(seconds(12));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()), HasSubstr("the port has lost its carrier"));
}

}  // namespace
}  // namespace cableway
