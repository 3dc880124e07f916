// `cableway drain` and `undrain` with a fake node n1.
#include "tools/cableway/verbs/drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "routing/paths/drain_effect.h"
#include "routing/topology_io/json_topology.h"
#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A cluster as its node n1 sees it, with so many relayed circuits, one less at each query.
class DrainTest : public testing::Test {
 protected:
  void use(const routing::Topology& topology) { topology_ = routing::to_json_topology(topology); }
  SessionMessage view(const std::string& name) {
    if (name == "topology") return ViewReply{"", topology_};
    if (fails_after_.has_value() && (*fails_after_)-- == 0) return ViewReply{"gone", ""};
    const std::size_t left = circuits_;
    if (circuits_ > stays_) --circuits_;
    Json circuits = Json::array();
    for (std::size_t i = 0; i < left; ++i) circuits.push_back({{"path", "n0 -c0-> n1 -c1-> n2"}});
    return ViewReply{"", Json{{"own", {{"flows_open", 0}}},
                              {"relayed", {{"circuits_open", left}}},
                              {"flows", Json::array()},
                              {"circuits", circuits},
                              {"draining_cables", draining_}}
                             .dump()};
  }
  Outcome run(const std::vector<std::string>& arguments) {
    const FakeNode node([this](const std::string& name) { return view(name); },
                        [this](const DrainRequest& request) {
                          requests_.push_back(request);
                          return DrainReply{error_};
                        });
    return run_command(arguments);
  }

  std::string topology_ = routing::to_json_topology(routing::sample_topology(4, routing::ring_pairs(4)));
  std::atomic<std::size_t> circuits_ = 0;
  std::size_t stays_ = 0;
  std::optional<std::size_t> fails_after_;  // queries for the status
  std::vector<std::string> draining_;
  std::string error_;
  std::vector<DrainRequest> requests_;
};

TEST_F(DrainTest, ANodeIsEmptyOnceItsCircuitsHaveLeft) {
  circuits_ = 3;
  const Outcome outcome = run({"drain", "n1"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, "node n1 drains: it relays no circuit\n");
  EXPECT_THAT(requests_, ElementsAre(DrainRequest{"", true}));
  EXPECT_EQ(circuits_, 0U);
}

TEST_F(DrainTest, ACheckChangesNothing) {
  circuits_ = stays_ = 1;
  const Outcome outcome = run({"drain", "c0", "--check"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out,
            "cable c0: draining it would cost:\n"
            "  lost        no pair of nodes loses its last path\n"
            "  longer      paths of 1 pair of nodes; the most: n0 and n1, 3 cables instead of 1\n"
            "  bandwidth   at most between n0 and n1: 10 Gbit/s instead of 20 Gbit/s\n"
            "  circuits    1 circuit leads there now\n");
  EXPECT_THAT(requests_, IsEmpty());
}

TEST_F(DrainTest, ACheckMayBeOfAnotherNodeOrCable) {
  const Outcome node = run({"drain", "n3", "--check"});
  EXPECT_EQ(node.exit_status, kDone) << node.err;
  EXPECT_THAT(node.out, AllOf(HasSubstr("node n3: draining it would cost:"),
                              HasSubstr("  circuits    not known here: run this on n3\n")));
  EXPECT_THAT(run({"drain", "c2", "--check"}).out, HasSubstr("not known here: run this on n2 or n3"));
  const Json json = Json::parse(run({"drain", "n3", "--check", "--json"}).out);
  EXPECT_EQ(json.at("node"), "n3");
  EXPECT_EQ(json.at("circuits"), nullptr);
  EXPECT_EQ(json.at("not_listed"), nullptr);
  EXPECT_THAT(run({"drain", "n3"}).err, HasSubstr("run this on n3"));
}

// n0 - n1 - n2
TEST_F(DrainTest, TheLastPathOfTwoNodesIsNotTakenWithoutForce) {
  use(routing::sample_topology(3, routing::line_pairs(3)));
  const Outcome check = run({"drain", "n1", "--check", "--json"});
  EXPECT_EQ(check.exit_status, kLosesPaths);
  const Json json = Json::parse(check.out);
  EXPECT_EQ(json.at("lost"), Json::parse(R"([["n0", "n2"]])"));
  EXPECT_EQ(json.at("lost_pairs"), 1);
  EXPECT_EQ(json.at("draining"), false);
  EXPECT_EQ(json.at("largest_loss"), Json::parse(R"({"nodes": ["n0", "n2"], "before_mbps": 10000, "after_mbps": 0})"));
  EXPECT_EQ(json.at("longest"), nullptr);

  const Outcome refused = run({"drain", "n1"});
  EXPECT_EQ(refused.exit_status, kLosesPaths);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("no path between n0 and n2: nothing was changed"), HasSubstr("--force")));
  EXPECT_EQ(Json::parse(run({"drain", "n1", "--json"}).out).at("lost_pairs"), 1);
  EXPECT_THAT(requests_, IsEmpty());

  EXPECT_EQ(run({"drain", "n1", "--force"}).exit_status, kDone);
  EXPECT_THAT(requests_, ElementsAre(DrainRequest{"", true}));
}

TEST_F(DrainTest, CircuitsThatStayAreNamedAfterTheTimeout) {
  circuits_ = stays_ = 2;
  const Outcome outcome = run({"drain", "c0", "--timeout", "1"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              HasSubstr("cable c0 drains, but after 1 s 2 circuits still lead there (n0 -c0-> n1 -c1-> n2; "
                        "n0 -c0-> n1 -c1-> n2). Flows without another path stay: see cableway flows"));
  const Outcome json = run({"drain", "c0", "--timeout", "1", "--json"});
  EXPECT_EQ(json.exit_status, kFailed);
  EXPECT_EQ(Json::parse(json.out).at("circuits"), 2);
}

TEST_F(DrainTest, WithoutATimeoutItDoesNotWait) {
  circuits_ = stays_ = 2;
  const Outcome outcome = run({"drain", "n1", "--timeout", "0"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, "node n1 drains\n");
  const Outcome json = run({"drain", "n1", "--timeout", "0", "--json"});
  EXPECT_EQ(json.exit_status, kDone) << json.err;
  EXPECT_EQ(Json::parse(json.out).at("circuits"), 2);
}

TEST_F(DrainTest, ARefusalOfTheNodeIsShown) {
  error_ = "only root and the user of the node may drain it or its cables";
  const Outcome outcome = run({"drain", "n1"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr(error_));
}

TEST_F(DrainTest, ANodeThatFailsMeanwhileMayHaveBegunToDrain) {
  fails_after_ = 1;
  const Outcome outcome = run({"drain", "n1"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("node n1 was to drain, but its circuits are not known: the node reports: gone"));
}

TEST_F(DrainTest, WhatDrainsAlreadyIsWaitedForToo) {
  routing::Topology ring = routing::sample_topology(4, routing::ring_pairs(4));
  use(routing::with_cable_draining(ring, "c0", true));
  circuits_ = 2;
  EXPECT_EQ(run({"drain", "c0"}).out, "cable c0 drains: no circuit leads over it\n");
  EXPECT_THAT(run({"drain", "c0", "--check"}).out,
              AllOf(HasSubstr("drains already"), HasSubstr("3 cables instead of 1")));
}

TEST_F(DrainTest, UndrainEndsIt) {
  use(routing::with_cable_draining(routing::sample_topology(4, routing::ring_pairs(4)), "c0", true));
  draining_ = {"c0"};
  const Outcome outcome = run({"undrain", "c0"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, "cable c0 is no longer drained here\n");
  EXPECT_THAT(requests_, ElementsAre(DrainRequest{"c0", false}));
  EXPECT_EQ(run({"undrain", "n1"}).out, "node n1 does not drain\n");
}

TEST_F(DrainTest, ACableThatIsUnpluggedCanBeUndrained) {
  draining_ = {"c9"};
  EXPECT_EQ(run({"undrain", "c9"}).out, "cable c9 is no longer drained here\n");
  EXPECT_THAT(requests_, ElementsAre(DrainRequest{"c9", false}));
}

TEST_F(DrainTest, WhatDoesNotDrainIsNoFailure) {
  error_ = "cable c0 is not drained by node n1";
  const Outcome outcome = run({"undrain", "c0", "--json"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out), Json::parse(R"({"schema": 1, "node": "n1", "cable": "c0", "draining": false})"));
}

TEST_F(DrainTest, ACableThatTheOtherEndDrainsIsUndrainedThere) {
  use(routing::with_cable_draining(routing::sample_topology(4, routing::ring_pairs(4)), "c0", true));
  error_ = "cable c0 is not drained by node n1";
  const Outcome outcome = run({"undrain", "c0"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("not drained by node n1; if node n0 drains it, run this there"));
}

TEST(DrainWithoutANode, FailsAsOtherCommandsDo) {
  EXPECT_EQ(run_command({"drain", "n1"}).exit_status, kNoNode);
  EXPECT_EQ(run_command({"undrain", "n1"}).exit_status, kNoNode);
  EXPECT_EQ(run_command({"drain"}).exit_status, kNotUsable);
  EXPECT_EQ(run_command({"drain", "n1", "--check", "--force"}).exit_status, kNotUsable);
}

}  // namespace
}  // namespace cableway::cli
