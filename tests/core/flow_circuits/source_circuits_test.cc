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
#include "tests/core/flow_circuits/played_paths.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

const PathOffer kDirect = test::path_over({{"ab", "b"}});
const PathOffer kOverM = test::path_over({{"am", "m"}, {"mb", "b"}});
const PathOffer kOverN = test::path_over({{"an", "n"}, {"nb", "b"}});

class PlayedFlow final : public SourceCircuits::Flow {
 public:
  std::optional<CircuitName> reserve() override {
    if (slots == 0) return std::nullopt;
    return CircuitName{next_slot, ++generation};
  }
  void release(const CircuitName& reserved) override { released.push_back(reserved.generation); }
  absl::Status join(const CircuitSetup& setup, OpenHop first_hop) override {
    if (!join_error.ok()) return join_error;
    joined.push_back(setup);
    hops.push_back(std::move(first_hop));
    ++alive;
    return absl::OkStatus();
  }
  std::size_t live() override { return alive; }
  void end_circuit(const CircuitName& circuit, const absl::Status&) override { ended.push_back(circuit); }
  bool waits() override { return waiting; }
  void fail(const absl::Status& reason) override { failures.push_back(reason); }

  std::size_t slots = 4;
  std::uint8_t next_slot = 0;
  std::uint32_t generation = 0;
  std::size_t alive = 0;
  bool waiting = true;
  absl::Status join_error;
  std::vector<std::uint32_t> released;
  std::vector<CircuitName> ended;
  std::vector<CircuitSetup> joined;
  std::vector<OpenHop> hops;
  std::vector<absl::Status> failures;
};

class SourceCircuitsTest : public testing::Test {
 protected:
  SourceCircuitsTest() {
    identity_.cookie.fill(std::byte{7});
    identity_.nonce.fill(std::byte{9});
    identity_.source_node = "a";
    identity_.source_port = 4001;
    identity_.destination_node = "b";
    identity_.destination_port = 4002;
    paths_.offers = {kDirect, kOverM, kOverN};
  }
  void begin(milliseconds path_wait = seconds(30)) {
    circuits_.emplace(paths_.means, identity_,
                      SourceCircuits::Limits{.open = seconds(10), .path_wait = path_wait, .chunk_bytes = 1U << 20},
                      flow_);
    circuits_->start();
    paths_.turn();
  }
  void open_first() {
    paths_.reach();
    paths_.accept();
    ASSERT_THAT(flow_.joined, SizeIs(1));
  }
  void end_circuit(const std::string& reason = "cut", std::uint8_t slot = 0) {
    --flow_.alive;
    circuits_->circuit_ended({slot, flow_.generation}, absl::UnavailableError(reason));
    paths_.turn();
  }
  // The first cable of the newest dial.
  std::string dialled() const { return paths_.connector.dialled.back()->hop.cable; }
  std::size_t dials() const { return paths_.connector.dialled.size(); }
  void run_for(Duration time) { paths_.clock.run_for(time); }

  test::PlayedPaths paths_;
  FlowIdentity identity_;
  PlayedFlow flow_;
  std::optional<SourceCircuits> circuits_;
};

TEST_F(SourceCircuitsTest, TheFirstCircuitTakesTheBestPathAndCarriesTheFlowsIdentity) {
  begin();
  ASSERT_EQ(dials(), 1U);
  EXPECT_EQ(dialled(), "ab");
  const CircuitSetup setup = paths_.reach();
  EXPECT_EQ(setup.purpose, SetupPurpose::kCircuit);
  EXPECT_EQ(setup.nonce, identity_.nonce);
  EXPECT_EQ(setup.circuit, (CircuitName{0, 1}));
  EXPECT_EQ(setup.source_port, 4001);
  EXPECT_EQ(setup.from_node, "a");
  EXPECT_EQ(setup.hops.back().to_port, 4002);
  EXPECT_TRUE(verify_flow_proof(identity_.cookie, setup));
  paths_.accept();
  EXPECT_THAT(flow_.joined, SizeIs(1));
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(SourceCircuitsTest, AFirstCircuitThatFailsIsTriedOnceOverEachPath) {
  begin();
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

TEST_F(SourceCircuitsTest, AFlowWithoutAPathFailsWithTheNodesReason) {
  paths_.no_path = absl::NotFoundError("node a knows of no node b");
  begin();
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(), "node a knows of no node b");
  EXPECT_FALSE(ends_flow(flow_.failures[0])) << "only the destination may say that";
}

TEST_F(SourceCircuitsTest, ANodeThatGoesAwayWhileTheFirstCircuitFailsIsAskedAgainUntilTheLimit) {
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

TEST_F(SourceCircuitsTest, ADestinationThatDoesNotKnowTheFlowEndsItAtOnce) {
  begin();
  paths_.reach();
  paths_.refuse("node b: it no longer listens", FailureScope::kFlow);
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_TRUE(ends_flow(flow_.failures[0]));
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

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

TEST_F(SourceCircuitsTest, ASilentPathIsGivenUpAfterTwoSecondsForTheNextOne) {
  begin();
  open_first();
  end_circuit();
  run_for(milliseconds(1990));
  EXPECT_EQ(dialled(), "am");
  run_for(milliseconds(50));
  EXPECT_EQ(dialled(), "an");
}

TEST_F(SourceCircuitsTest, AttemptsThatFailAtOnceArePacedMoreAndMoreSlowly) {
  begin();
  open_first();
  end_circuit();
  const std::size_t before = dials();
  for (int i = 0; i < 1000 && flow_.failures.empty(); ++i) {
    if (!paths_.connector.dialled.back()->dropped)
      paths_.connector.dialled.back()->connected(absl::UnavailableError("no route"));
    run_for(milliseconds(10));
  }
  EXPECT_GE(dials() - before, 10U);
  EXPECT_LE(dials() - before, 20U);
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
              testing::StartsWith("the peer closed the connection; no circuit a -an-> n -nb-> b: node n cannot reach"));
}

TEST_F(SourceCircuitsTest, ARefusalBesideALiveCircuitEndsNothing) {
  begin();
  open_first();
  circuits_->want(2);
  for (int i = 0; i < 3; ++i) {
    run_for(seconds(1));
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

TEST_F(SourceCircuitsTest, AStandbyTakesAPathThatSharesNothingAndIsNotTwice) {
  begin();
  open_first();
  flow_.next_slot = 1;
  paths_.offers = {kDirect};
  circuits_->want(2);
  paths_.turn();
  EXPECT_EQ(dials(), 1U) << "a second circuit over the same cable is of no use";
  paths_.offers = {kDirect, kOverM};
  run_for(seconds(6));
  EXPECT_EQ(dialled(), "am");
  paths_.reach();
  paths_.accept();
  run_for(seconds(60));
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

// a -ab- b     ab drains; later it does not.
//  \- m -/
TEST_F(SourceCircuitsTest, AFlowFollowsAChangeOfItsBestPathWithoutHavingLostACircuit) {
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

TEST_F(SourceCircuitsTest, AFlowStaysWhereItIsWithoutABetterPath) {
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

TEST_F(SourceCircuitsTest, AChangeDuringTheFirstSetUpIsFollowedAfterIt) {
  begin();
  paths_.offers = {kOverM};
  circuits_->paths_changed(milliseconds(300));
  run_for(milliseconds(400));
  open_first();
  flow_.next_slot = 1;
  run_for(milliseconds(2000));
  EXPECT_EQ(dialled(), "am");
}

TEST_F(SourceCircuitsTest, FurtherChangesDoNotPutOffALook) {
  begin();
  open_first();
  paths_.offers = {kOverM};
  for (int i = 0; i < 4; ++i) {
    circuits_->paths_changed(milliseconds(300));
    run_for(milliseconds(100));
  }
  EXPECT_EQ(dialled(), "am");
}

TEST_F(SourceCircuitsTest, ABetterPathThatCannotBeSetUpAtOnceIsTriedAgain) {
  begin();
  open_first();
  flow_.next_slot = 1;
  paths_.offers = {kOverM};
  circuits_->paths_changed(milliseconds(1));
  run_for(milliseconds(2));
  paths_.reach();
  paths_.refuse("the topology may have changed since");
  EXPECT_EQ(flow_.alive, 1U);
  run_for(milliseconds(2001));
  ASSERT_EQ(dials(), 3U);
  EXPECT_EQ(paths_.reach().offer, 1U) << "an offer counts once a circuit of it is open";
}

// The flow has moved, and its first circuit is about to end, when the first path becomes the best again.
TEST_F(SourceCircuitsTest, APathThatIsBestAgainBeforeItsCircuitHasEndedIsUsedOnceItHas) {
  begin();
  open_first();
  flow_.next_slot = 1;
  paths_.offers = {kOverM};
  circuits_->paths_changed(milliseconds(1));
  run_for(milliseconds(2));
  paths_.reach();
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

TEST_F(SourceCircuitsTest, AnswersThatComeAfterItsEndAreDropped) {
  begin();
  circuits_->stop();
  run_for(seconds(60));
  EXPECT_TRUE(flow_.failures.empty());
  EXPECT_TRUE(flow_.joined.empty());
}

}  // namespace
}  // namespace cableway
