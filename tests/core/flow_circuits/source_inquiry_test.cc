#include "core/flow_circuits/source_inquiry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/circuit/flow_proof.h"
#include "tests/core/flow_circuits/played_paths.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::SizeIs;

class PlayedEnd final : public SourceInquiry::Flow {
 public:
  std::size_t live() override { return alive; }
  bool waits() override { return waiting; }
  std::uint64_t arrived() override { return landed; }
  void fail(const absl::Status& reason) override { failures.push_back(reason); }

  std::size_t alive = 1;
  bool waiting = true;
  std::uint64_t landed = 0;
  std::vector<absl::Status> failures;
};

// b asks a, over node m.
class SourceInquiryTest : public testing::Test {
 protected:
  SourceInquiryTest() {
    identity_.cookie.fill(std::byte{7});
    identity_.nonce.fill(std::byte{9});
    identity_.source_node = "a";
    identity_.source_port = 4001;
    identity_.destination_node = "b";
    paths_.offers = {test::path_over({{"bm", "m"}, {"ma", "a"}})};
  }
  void lose_circuit(milliseconds path_wait = seconds(30)) {
    inquiry_.emplace(paths_.means, identity_, path_wait, flow_);
    flow_.alive = 0;
    inquiry_->circuit_ended(absl::UnavailableError("cut"));
  }
  std::size_t dials() const { return paths_.connector.dialled.size(); }
  void run_for(Duration time) { paths_.clock.run_for(time); }

  test::PlayedPaths paths_;
  FlowIdentity identity_;
  PlayedEnd flow_;
  std::optional<SourceInquiry> inquiry_;
};

TEST_F(SourceInquiryTest, AsksTheSourceShortlyAfterTheLastCircuitHasEnded) {
  lose_circuit();
  run_for(milliseconds(10));
  EXPECT_EQ(dials(), 0U) << "the source sets up another circuit at once";
  run_for(milliseconds(100));
  ASSERT_EQ(dials(), 1U);
  EXPECT_EQ(paths_.requested_node, "a");
  const CircuitSetup setup = paths_.reach();
  EXPECT_EQ(setup.purpose, SetupPurpose::kInquiry);
  EXPECT_EQ(setup.nonce, identity_.nonce);
  EXPECT_EQ(setup.from_node, "b");
  EXPECT_EQ(setup.hops.back().to_port, 4001);
  EXPECT_TRUE(verify_flow_proof(identity_.cookie, setup));
}

TEST_F(SourceInquiryTest, ASourceThatDoesNotKnowTheFlowEndsIt) {
  lose_circuit();
  run_for(milliseconds(110));
  paths_.reach();
  paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
  EXPECT_TRUE(flow_.failures.empty()) << "the process may not listen there yet";
  run_for(milliseconds(310));
  paths_.reach();
  paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_THAT(std::string(flow_.failures[0].message()),
              testing::AllOf(testing::StartsWith("cut; "), testing::HasSubstr("no longer has this flow")));
}

TEST_F(SourceInquiryTest, PathsThatDoNotWorkDoNotHideThatTheSourceHasEnded) {
  paths_.offers = {test::path_over({{"bm", "m"}, {"ma", "a"}}), test::path_over({{"ba", "a"}})};
  lose_circuit();
  for (int i = 0; i < 20 && flow_.failures.empty(); ++i) {
    run_for(milliseconds(100));
    const auto dialled = paths_.connector.dialled;
    for (const auto& waiting : dialled) {
      if (waiting->dropped) continue;
      paths_.connector.dialled.push_back(waiting);  // which reach() takes
      paths_.reach();
      paths_.refuse("no", waiting->hop.cable == "ba" ? FailureScope::kFlow : FailureScope::kCircuit);
    }
  }
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

TEST_F(SourceInquiryTest, APathThatGivesNoAnswerDoesNotDelayThatOfAnother) {
  paths_.offers = {test::path_over({{"bm", "m"}, {"ma", "a"}}), test::path_over({{"ba", "a"}})};
  lose_circuit();
  for (int i = 0; i < 8 && flow_.failures.empty(); ++i) {
    run_for(milliseconds(100));
    if (dials() == 0 || paths_.connector.dialled.back()->dropped) continue;
    if (paths_.connector.dialled.back()->hop.cable != "ba") continue;
    paths_.reach();
    paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
  }
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

TEST_F(SourceInquiryTest, FourSilentPathsDelayTheFifthsAnswerByLessThanASecond) {
  paths_.offers = {test::path_over({{"bk", "k"}, {"ka", "a"}}), test::path_over({{"bl", "l"}, {"la", "a"}}),
                   test::path_over({{"bm", "m"}, {"ma", "a"}}), test::path_over({{"bn", "n"}, {"na", "a"}}),
                   test::path_over({{"ba", "a"}})};
  lose_circuit();
  for (int i = 0; i < 10 && flow_.failures.empty(); ++i) {
    run_for(milliseconds(100));
    const auto dialled = paths_.connector.dialled;
    for (const auto& waiting : dialled) {
      if (waiting->dropped || waiting->hop.cable != "ba") continue;
      paths_.connector.dialled.push_back(waiting);  // which reach() takes
      paths_.reach();
      paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
    }
  }
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

TEST_F(SourceInquiryTest, OneAnswerLongAgoIsNoDoubtAnyMore) {
  lose_circuit();
  run_for(milliseconds(110));
  paths_.reach();
  paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
  paths_.no_path = absl::UnavailableError("no");
  run_for(seconds(6));
  paths_.no_path = absl::OkStatus();
  run_for(milliseconds(400));
  paths_.reach();
  paths_.refuse("node a: the process no longer has this flow", FailureScope::kFlow);
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(SourceInquiryTest, ASourceThatKnowsTheFlowIsAskedAgain) {
  lose_circuit();
  for (std::size_t i = 1; i <= 5; ++i) {
    run_for(milliseconds(600));
    ASSERT_EQ(dials(), i);
    paths_.reach();
    paths_.refuse("node a: the flow is open here");
  }
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(SourceInquiryTest, NothingIsAskedOnceACircuitIsAlive) {
  lose_circuit();
  flow_.alive = 1;
  run_for(seconds(60));
  EXPECT_EQ(dials(), 0U);
  EXPECT_TRUE(flow_.failures.empty());
}

TEST_F(SourceInquiryTest, NothingIsAskedWhileNobodyWaits) {
  flow_.waiting = false;
  lose_circuit();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 0U);
  flow_.waiting = true;
  run_for(seconds(1));
  EXPECT_EQ(dials(), 1U);
}

TEST_F(SourceInquiryTest, WithoutAnAnswerTheFlowEndsAfterItsWait) {
  paths_.no_path = absl::UnavailableError("node b has no path to node a");
  lose_circuit(seconds(3));
  run_for(milliseconds(2900));
  EXPECT_TRUE(flow_.failures.empty());
  run_for(milliseconds(400));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(),
            "cut; no other path to node a within 3 s (last: node b has no path to node a)");
}

TEST_F(SourceInquiryTest, CircuitsThatEndSoonButBringDataDoNotEndTheFlow) {
  paths_.no_path = absl::UnavailableError("node b has no path to node a");
  lose_circuit(seconds(3));
  const auto flap = [&] {
    run_for(milliseconds(300));
    flow_.alive = 1;
    run_for(milliseconds(700));
    flow_.alive = 0;
    inquiry_->circuit_ended(absl::UnavailableError("cut"));
  };
  for (int i = 0; i < 20; ++i) {
    ++flow_.landed;
    flap();
  }
  EXPECT_TRUE(flow_.failures.empty());
  for (int i = 0; i < 4; ++i) flap();
  EXPECT_THAT(flow_.failures, SizeIs(1)) << "nothing arrives any more";
}

TEST_F(SourceInquiryTest, WithoutAWaitTheFlowEndsWithItsLastCircuit) {
  lose_circuit(seconds(0));
  ASSERT_THAT(flow_.failures, SizeIs(1));
  EXPECT_EQ(flow_.failures[0].message(), "cut");
}

TEST_F(SourceInquiryTest, ASourceWithoutAPortIsOnlyWaitedFor) {
  identity_.source_port = 0;
  lose_circuit(seconds(3));
  run_for(milliseconds(3300));
  EXPECT_EQ(dials(), 0U);
  EXPECT_THAT(flow_.failures, SizeIs(1));
}

}  // namespace
}  // namespace cableway
