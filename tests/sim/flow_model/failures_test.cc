#include "sim/flow_model/failures.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/routing/sample_topologies.h"
#include "tests/sim/flow_model/random_topology.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kCable = 1.25e9;

FailureReport report_of(const Topology& topology, const FailureSettings& settings = {}) {
  absl::StatusOr<FailureReport> report = analyse_failures(topology, settings);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : FailureReport{};
}

TEST(FailuresTest, ARingBecomesALineAndThenTwo) {
  const FailureReport report = report_of(routing::sample_topology(4, routing::ring_pairs(4)));
  EXPECT_DOUBLE_EQ(report.intact.least_rate, kCable / 2);
  ASSERT_EQ(report.cables.size(), 4U);
  for (const FailureCase& failure : report.cables) {
    EXPECT_EQ(failure.shares.pairs_cut, 0U);
    EXPECT_DOUBLE_EQ(failure.shares.least_rate, kCable / 4);  // over the middle of a line of four
  }
  ASSERT_EQ(report.two_cables.size(), 6U);
  // Either one node is cut off from three, or two from two.
  std::vector<std::uint64_t> cut;
  for (const FailureCase& failure : report.two_cables) cut.push_back(failure.shares.pairs_cut);
  EXPECT_THAT(cut, testing::UnorderedElementsAre(6, 6, 6, 6, 8, 8));
  ASSERT_EQ(report.nodes.size(), 4U);
  for (const FailureCase& failure : report.nodes) {
    EXPECT_EQ(failure.shares.pairs, 6U);
    EXPECT_EQ(failure.shares.pairs_cut, 0U);
    EXPECT_DOUBLE_EQ(failure.shares.least_rate, kCable / 2);
  }
  EXPECT_THAT(report.weak.cables, IsEmpty());
  EXPECT_THAT(report.weak.nodes, IsEmpty());
}

TEST(FailuresTest, ALineFallsApart) {
  const Topology line = routing::sample_topology(3, routing::line_pairs(3));
  const FailureReport report = report_of(line);
  EXPECT_THAT(report.weak.cables, ElementsAre(0, 1));
  EXPECT_THAT(report.weak.nodes, ElementsAre(NodeIndex{1}));
  EXPECT_EQ(report.cables[0].shares.pairs_cut, 4U);
  EXPECT_EQ(report.two_cables[0].shares.pairs_cut, 6U);
  EXPECT_EQ(report.nodes[0].shares.pairs_cut, 0U);
  EXPECT_EQ(report.nodes[1].shares.pairs_cut, 2U);
  EXPECT_EQ(describe(line, report.physical, report.cables[1]), "cable c1 (n1-n2)");
  EXPECT_EQ(describe(line, report.physical, report.two_cables[0]), "cables c0 (n0-n1) and c1 (n1-n2)");
  EXPECT_EQ(describe(line, report.physical, report.nodes[1]), "node n1");
}

TEST(FailuresTest, TwinsFailTogether) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1),
                                        routing::sample_cable(2, 0, 1)};
  for (const std::size_t twin : {0U, 1U}) cables[twin].a.plug = cables[twin].b.plug = "p0";
  const Topology topology = routing::make_topology(routing::sample_nodes(2), cables);
  const FailureReport report = report_of(topology);
  ASSERT_EQ(report.cables.size(), 2U);
  EXPECT_EQ(report.cables[0].shares.pairs_cut, 0U);
  EXPECT_EQ(report.two_cables[0].shares.pairs_cut, 2U);
  EXPECT_EQ(describe(topology, report.physical, report.cables[0]), "cable c0=c1 (n0-n1)");
}

TEST(FailuresTest, EveryCaseEqualsTheReducedTopology) {
  std::mt19937 random(53);
  for (int round = 0; round < 12; ++round) {
    const Topology topology = random_topology(random, 3 + random() % 6);
    const FailureReport report = report_of(topology);
    MaxMinShares memory;
    for (const FailureCase& failure : report.two_cables) {
      std::vector<routing::Cable> rest;
      for (std::uint32_t cable = 0; cable < topology.cable_count(); ++cable) {
        const std::size_t place = report.physical.place_of_cable[cable];
        if (place != failure.cable && place != failure.second_cable) rest.push_back(topology.cables()[cable]);
      }
      const Topology left = routing::make_topology({topology.nodes().begin(), topology.nodes().end()}, rest);
      AllToAllShares expected = all_to_all_shares(*AllToAllRoutes::compute(left), memory);
      if (expected.hottest) expected.hottest->cable = *topology.find_cable(left.cable(expected.hottest->cable).name);
      ASSERT_EQ(failure.shares, expected) << "round " << round << ": " << describe(topology, report.physical, failure);
      if (failure.shares.pairs_cut > 0) continue;
      EXPECT_DOUBLE_EQ(failure.least_rate_before, report.intact.least_rate);
      EXPECT_DOUBLE_EQ(failure.total_rate_before, report.intact.total_rate);
    }
  }
}

// A ring of three, and beside it a line of three whose cables are half as fast: 18 of 30 ordered pairs have no path.
TEST(FailuresTest, DoesNotCountPairsThatHadNoPathBefore) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2),
                                        routing::sample_cable(2, 0, 2), routing::sample_cable(3, 3, 4),
                                        routing::sample_cable(4, 4, 5)};
  cables[3].rate_mbps = cables[4].rate_mbps = 5000;
  const Topology topology = routing::make_topology(routing::sample_nodes(6), cables);
  const FailureReport report = report_of(topology);
  EXPECT_EQ(report.parts, 2U);
  EXPECT_EQ(report.intact.pairs, 12U);
  EXPECT_EQ(report.intact.pairs_cut, 18U);
  EXPECT_DOUBLE_EQ(report.intact.least_rate, kCable / 4);  // over a cable of the line
  for (std::size_t cable = 0; cable < 3; ++cable) EXPECT_EQ(report.cables[cable].shares.pairs_cut, 0U);
  for (std::size_t cable = 3; cable < 5; ++cable) EXPECT_EQ(report.cables[cable].shares.pairs_cut, 4U);
  EXPECT_EQ(report.nodes[0].shares.pairs_cut, 0U);
  EXPECT_EQ(report.nodes[3].shares.pairs_cut, 0U);
  EXPECT_EQ(report.nodes[4].shares.pairs_cut, 2U);
  // Without the line's cables only the ring is left, with unchanged rates.
  const FailureCase& ring_left = report.two_cables.back();
  EXPECT_EQ(ring_left.shares.pairs_cut, 6U);
  EXPECT_DOUBLE_EQ(ring_left.shares.least_rate, kCable);
  EXPECT_DOUBLE_EQ(ring_left.least_rate_before, kCable);
  EXPECT_DOUBLE_EQ(ring_left.total_rate_before, 6 * kCable);
  // Without one of them, its two nodes get twice their rate, since no traffic is relayed through them any more.
  EXPECT_DOUBLE_EQ(report.cables[3].shares.least_rate, kCable / 2);
  EXPECT_DOUBLE_EQ(report.cables[3].least_rate_before, kCable / 4);
}

TEST(FailuresTest, HandlesCasesWithoutRemainingPairs) {
  const FailureReport report = report_of(routing::sample_topology(2, {{0, 1}}));
  EXPECT_EQ(report.parts, 1U);
  EXPECT_EQ(report.cables[0].shares.pairs_cut, 2U);
  EXPECT_EQ(report.cables[0].least_rate_before, 0);
  EXPECT_EQ(report.cables[0].total_rate_before, 0);
}

TEST(FailuresTest, OneCaseForEachCableAndPairAndNode) {
  EXPECT_EQ(failure_case_count(64, 128, true), 64U + 128 + 8128);
  EXPECT_EQ(failure_case_count(64, 128, false), 64U + 128);
  EXPECT_EQ(failure_case_count(1, 0, true), 1U);
  std::size_t last = 0;
  std::size_t cases = 0;
  FailureSettings settings;
  settings.progress = [&](std::size_t done, std::size_t of) {
    EXPECT_GE(done, last);
    last = done;
    cases = of;
  };
  report_of(routing::sample_topology(9, routing::torus_pairs(3, 3)), settings);
  EXPECT_EQ(last, failure_case_count(9, 18, true));
  EXPECT_EQ(cases, last);
  settings.two_cables = false;
  last = 0;
  EXPECT_THAT(report_of(routing::sample_topology(9, routing::torus_pairs(3, 3)), settings).two_cables, IsEmpty());
  EXPECT_EQ(last, failure_case_count(9, 18, false));
}

TEST(FailuresTest, TooManyNodesAreRefused) {
  const Topology star = routing::sample_topology(kMaxAllToAllNodes + 1, routing::star_pairs(kMaxAllToAllNodes));
  EXPECT_EQ(analyse_failures(star).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cableway::sim
