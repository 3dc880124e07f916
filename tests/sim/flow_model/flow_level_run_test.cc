#include "sim/flow_model/flow_level_run.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/paths/route_table.h"
#include "tests/routing/sample_topologies.h"
#include "tests/sim/flow_model/random_topology.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;
using testing::HasSubstr;

constexpr std::uint64_t kBytesInSecond = 1'250'000'000;  // bytes of one second over a cable of 10 Gbit/s

Topology without_latency(std::size_t nodes, const routing::Pairs& pairs) {
  std::vector<routing::Cable> cables;
  for (const auto& [a, b] : pairs) {
    cables.push_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    cables.back().latency_us = 0;
  }
  return routing::make_topology(routing::sample_nodes(nodes), std::move(cables));
}

Transfer transfer(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes,
                  std::vector<std::uint32_t> after = {}) {
  return {NodeIndex{source}, NodeIndex{destination}, bytes, 0, std::move(after)};
}

FlowLevelResult run(const Topology& topology, const std::vector<Transfer>& transfers) {
  absl::StatusOr<FlowLevelResult> result = run_flow_level(topology, transfers);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : FlowLevelResult{};
}

void expect_done(const FlowLevelResult& result, const std::vector<double>& done_s) {
  ASSERT_EQ(result.done_s.size(), done_s.size());
  for (std::size_t i = 0; i < done_s.size(); ++i) EXPECT_NEAR(result.done_s[i], done_s[i], 1e-9) << "transfer " << i;
}

TEST(FlowLevelRunTest, OneTransferTakesBytesOverRateAndItsLatency) {
  const Topology line = routing::sample_topology(3, routing::line_pairs(3));  // 1 us a cable
  const FlowLevelResult result = run(line, {transfer(0, 2, kBytesInSecond)});
  expect_done(result, {1 + 2e-6});
  EXPECT_DOUBLE_EQ(result.time_s, result.done_s[0]);
  EXPECT_EQ(result.cables[0], (CableBytes{kBytesInSecond, 0}));
  EXPECT_EQ(result.cables[1], (CableBytes{kBytesInSecond, 0}));
  EXPECT_NEAR(result.hottest_utilisation, 1, 1e-5);
}

// Two share a cable until the smaller one is done; then the other uses it alone.
TEST(FlowLevelRunTest, RatesChangeWhenATransferEnds) {
  const Topology line = without_latency(2, {{0, 1}});
  const FlowLevelResult result = run(line, {transfer(0, 1, kBytesInSecond), transfer(0, 1, 3 * kBytesInSecond)});
  expect_done(result, {2, 4});
  EXPECT_EQ(result.rate_changes, 2U);
}

// 0 -> 2 and 0 -> 1 share the first cable, 0 -> 2 and 1 -> 2 the second, which 1 -> 2 uses alone at the end.
TEST(FlowLevelRunTest, SharesAreMaxMinFair) {
  const Topology line = without_latency(3, routing::line_pairs(3));
  expect_done(
      run(line, {transfer(0, 2, kBytesInSecond), transfer(0, 1, kBytesInSecond), transfer(1, 2, 3 * kBytesInSecond)}),
      {2, 2, 4});
}

TEST(FlowLevelRunTest, DirectionsDoNotShare) {
  const Topology line = without_latency(2, {{0, 1}});
  const FlowLevelResult result = run(line, {transfer(0, 1, kBytesInSecond), transfer(1, 0, 2 * kBytesInSecond)});
  expect_done(result, {1, 2});
  EXPECT_EQ(result.cables[0], (CableBytes{kBytesInSecond, 2 * kBytesInSecond}));
  EXPECT_EQ(result.hottest, (CableDirection{routing::CableIndex{0}, false}));
  EXPECT_NEAR(result.hottest_utilisation, 1, 1e-9);
}

TEST(FlowLevelRunTest, ATransferStartsWhenTheLastItWaitsForHasArrived) {
  const Topology line = routing::sample_topology(2, {{0, 1}});
  const FlowLevelResult result = run(line, {transfer(0, 1, kBytesInSecond), transfer(1, 0, 2 * kBytesInSecond),
                                            transfer(0, 1, kBytesInSecond, {0, 1}), transfer(1, 1, 5, {2})});
  expect_done(result, {1 + 1e-6, 2 + 1e-6, 3 + 2e-6, 3 + 2e-6});
}

TEST(FlowLevelRunTest, AnEmptyTransferTakesItsLatencyAndOneToItselfNothing) {
  const Topology line = routing::sample_topology(2, {{0, 1}});
  const FlowLevelResult result = run(line, {transfer(0, 1, 0), transfer(0, 0, kBytesInSecond)});
  expect_done(result, {1e-6, 0});
  EXPECT_EQ(result.rate_changes, 0U);
}

TEST(FlowLevelRunTest, NothingTakesNoTime) {
  const FlowLevelResult result = run(routing::sample_topology(2, {{0, 1}}), {});
  EXPECT_EQ(result.time_s, 0);
  EXPECT_EQ(result.hottest_utilisation, 0);
}

// Flow 0 of each opposite pair of a 4-ring loads all cables equally, and flows 0 and 1 of one pair use both ways.
TEST(FlowLevelRunTest, UsesThePathsThatNodesChoose) {
  const Topology ring = without_latency(4, routing::ring_pairs(4));
  expect_done(run(ring, {transfer(0, 2, kBytesInSecond), transfer(1, 3, kBytesInSecond), transfer(2, 0, kBytesInSecond),
                         transfer(3, 1, kBytesInSecond)}),
              {1, 1, 1, 1});
  std::vector<Transfer> pair = {transfer(0, 2, kBytesInSecond), transfer(0, 2, kBytesInSecond)};
  expect_done(run(ring, pair), {2, 2});
  pair[1].ordinal = 1;
  expect_done(run(ring, pair), {1, 1});
}

TEST(FlowLevelRunTest, BytesAreThoseOfThePaths) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const Topology topology = random_topology(random, 2 + random() % 8);
    const std::uint32_t nodes = static_cast<std::uint32_t>(topology.node_count());
    std::vector<Transfer> transfers;
    std::vector<CableBytes> expected(topology.cable_count());
    for (std::uint32_t i = 0; i < 20; ++i) {
      Transfer next = transfer(random() % nodes, random() % nodes, random() % 1'000'000);
      next.ordinal = random() % 3;
      if (i > 0 && random() % 2 == 0) next.after.push_back(random() % i);
      const routing::Path path =
          routing::compute_routes(topology, next.source).path_for_flow(next.destination, next.ordinal);
      for (std::size_t hop = 0; hop < path.hops(); ++hop) {
        const bool from_a = topology.cable(path.cables[hop]).a.node == path.nodes[hop];
        CableBytes& use = expected[path.cables[hop].value];
        (from_a ? use.bytes_from_a : use.bytes_from_b) += next.bytes;
      }
      transfers.push_back(std::move(next));
    }
    const FlowLevelResult result = run(topology, transfers);
    EXPECT_EQ(result.cables, expected);
    // No cable exceeds its capacity, and every transfer ends after those it waits for.
    EXPECT_LE(result.hottest_utilisation, 1 + 1e-9);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      EXPECT_LE(result.done_s[i], result.time_s);
      for (const std::uint32_t earlier : transfers[i].after) EXPECT_GE(result.done_s[i], result.done_s[earlier]);
    }
  }
}

TEST(FlowLevelRunTest, CoarseRunsAreFasterAndNearlyExact) {
  const Topology line = without_latency(2, {{0, 1}});
  std::vector<Transfer> transfers;
  for (std::uint64_t i = 0; i < 100; ++i) transfers.push_back(transfer(0, 1, kBytesInSecond / 100 + i * 10'000));
  const FlowLevelResult exact = run(line, transfers);
  const absl::StatusOr<FlowLevelResult> coarse = run_flow_level(line, transfers, {.coarseness = 0.01});
  ASSERT_TRUE(coarse.ok());
  EXPECT_EQ(exact.rate_changes, 100U);
  EXPECT_LT(coarse->rate_changes, 20U);
  EXPECT_NEAR(coarse->time_s, exact.time_s, 0.02 * exact.time_s);
}

TEST(FlowLevelRunTest, ReportsErrors) {
  const Topology apart = routing::sample_topology(3, {{0, 1}});
  const auto error = [&](const std::vector<Transfer>& transfers) { return run_flow_level(apart, transfers).status(); };
  EXPECT_EQ(error({transfer(0, 2, 1)}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(std::string(error({transfer(0, 2, 1)}).message()), "node n0 has no path to node n2");
  EXPECT_THAT(std::string(error({transfer(0, 1, 1, {1})}).message()), HasSubstr("transfer 0 waits for transfer 1"));
  EXPECT_THAT(std::string(error({transfer(0, 1, 1), transfer(0, 1, 1, {2}), transfer(0, 1, 1, {1})}).message()),
              HasSubstr("transfer 1 waits for itself"));
}

}  // namespace
}  // namespace cableway::sim
