// Latencies that whole nodes measure of cables in virtual time, where the truth is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "sim/nodes/node_world.h"
#include "sim/simtest/drifting_clock.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::CableFabric;
using sim::NodeWorld;

// Two nodes on one cable.
class MeasuredLatency : public ::testing::Test {
 protected:
  MeasuredLatency() : cable_(world_.build(2, {{0, 1}}).front()) {}

  void set_delay(Duration delay) { world_.fabric().set_weather(cable_, CableFabric::Weather{.delay = delay}); }
  bool settle(Duration limit = 5s) {
    return world_.settle(limit, [&] { return in_topology(0).has_value() && measured(0) && measured(1); });
  }
  std::optional<Duration> measured(std::size_t node) {
    const auto& all = world_.node(node).neighbours().all();
    return all.empty() ? std::nullopt : all.begin()->second.latency;
  }
  // Of the only cable, in microseconds.
  std::optional<double> in_topology(std::size_t node) {
    const auto cables = world_.node(node).paths().topology().cables();
    return cables.empty() ? std::nullopt : cables[0].latency_us;
  }
  std::uint64_t originated(std::size_t node) { return world_.node(node).flooding().counters().originated; }

  NodeWorld world_{1};
  CableFabric::SegmentNumber cable_;
};

TEST_F(MeasuredLatency, IsExactAndInEveryTopology) {
  for (const Duration delay : {Duration(700ns), Duration(5us), Duration(500us), Duration(20ms)}) {
    set_delay(delay);
    world_.start_all();
    ASSERT_TRUE(settle());
    for (std::size_t node = 0; node < 2; ++node) {
      EXPECT_EQ(measured(node), delay);
      EXPECT_EQ(in_topology(node), static_cast<double>(delay.count()) / 1000);
    }
    for (std::size_t node = 0; node < 2; ++node) world_.leave(node);
    world_.clock().run_for(1s);
  }
}

TEST_F(MeasuredLatency, IsNotKnownAtFirst) {
  world_.start_all();
  ASSERT_TRUE(world_.settle(2s, [&] { return world_.node(0).paths().topology().cable_count() == 1; }));
  EXPECT_EQ(measured(0), std::nullopt);
  EXPECT_EQ(in_topology(0), std::nullopt);
  EXPECT_TRUE(settle(3s)) << "but soon";
}

TEST_F(MeasuredLatency, IsTheMeanOfBothDirections) {
  set_delay(100us);
  const auto [node, port] = world_.fabric().ends_of(cable_)[1];
  world_.fabric().set_more_delay(node, port, 200us);
  world_.start_all();
  ASSERT_TRUE(settle());
  EXPECT_EQ(measured(0), 200us);
  EXPECT_EQ(measured(1), 200us);
}

TEST_F(MeasuredLatency, IsNearTheLeastWithJitterLossAndCopies) {
  world_.fabric().set_weather({.lost_per_mille = 200, .doubled_per_mille = 200, .delay = 500us, .jitter = 3ms});
  world_.start_all();
  ASSERT_TRUE(settle(20s));
  world_.clock().run_for(60s);
  for (std::size_t node = 0; node < 2; ++node) {
    EXPECT_GE(*measured(node), 500us);
    EXPECT_LE(*measured(node), 900us) << "of three delays that are 500 us to 3500 us, the best mean of a minute";
  }
  EXPECT_EQ(in_topology(0), static_cast<double>(std::min(*measured(0), *measured(1)).count()) / 1000)
      << "the lower one of both ends";
}

TEST_F(MeasuredLatency, NeedsNoClocksOfTheSameRate) {
  set_delay(2us);
  sim::DriftingClock fast(world_.clock(), 500);
  sim::DriftingClock slow(world_.clock(), -500);
  world_.use_clock(0, fast);
  world_.use_clock(1, slow);
  world_.start_all();
  ASSERT_TRUE(settle());
  world_.clock().run_for(30s);
  for (std::size_t node = 0; node < 2; ++node) {
    EXPECT_NEAR(static_cast<double>(measured(node)->count()), 2000, 10);
  }
}

TEST_F(MeasuredLatency, IsMeasuredAgainForANewCable) {
  set_delay(500us);
  world_.start_all();
  ASSERT_TRUE(settle());
  world_.fabric().set_carrier(cable_, false);
  world_.clock().run_for(1s);
  set_delay(3us);
  world_.fabric().set_carrier(cable_, true);
  world_.clock().run_for(200ms);
  EXPECT_EQ(measured(0), std::nullopt) << "that of the other cable is forgotten";
  ASSERT_TRUE(settle());
  EXPECT_EQ(measured(0), 3us);
  // A neighbour that starts again.
  world_.kill(1);
  set_delay(70us);
  world_.start(1);
  world_.clock().run_for(200ms);
  EXPECT_EQ(measured(0), std::nullopt);
  ASSERT_TRUE(settle());
  EXPECT_EQ(measured(0), 70us);
}

TEST_F(MeasuredLatency, OfANewAdjacencyIsNotThatOfTheLast) {
  set_delay(500us);
  world_.start_all();
  ASSERT_TRUE(settle());
  // Only one direction is lost, so that both nodes go on hearing of each other.
  world_.fabric().set_mute(cable_, 0, true);
  world_.clock().run_for(1500ms);
  ASSERT_FALSE(world_.node(0).neighbours().all().begin()->second.up);
  set_delay(3us);
  world_.fabric().set_mute(cable_, 0, false);
  world_.clock().run_for(200ms);
  EXPECT_EQ(measured(0), std::nullopt);
  EXPECT_EQ(in_topology(0), std::nullopt);
  ASSERT_TRUE(settle());
  EXPECT_EQ(measured(0), 3us);
}

// One advertisement more than the cable itself needs, then few beside the renewals, though the noise is 60 times the
// latency.
TEST_F(MeasuredLatency, IsFloodedRarely) {
  world_.fabric().set_weather({.lost_per_mille = 50, .delay = 5us, .jitter = 300us});
  world_.start_all();
  ASSERT_TRUE(settle());
  for (std::size_t node = 0; node < 2; ++node) EXPECT_LE(originated(node), 4U);
  world_.clock().run_for(2min);
  const std::uint64_t before[] = {originated(0), originated(1)};
  world_.clock().run_for(1h);
  for (std::size_t node = 0; node < 2; ++node) EXPECT_LE(originated(node) - before[node], 60U + 30U) << "60 renewals";
}

TEST_F(MeasuredLatency, ReplaysDoNotChangeIt) {
  set_delay(300us);
  std::vector<std::vector<std::byte>> heard;
  const PortFacts near = world_.fabric().ports_of(0).ports()[0];
  const PortFacts far = world_.fabric().ports_of(1).ports()[0];
  world_.fabric().tap([&](std::size_t from, PortId, std::span<const std::byte> bytes) {
    if (from == 1 && heard.size() < 100) heard.emplace_back(bytes.begin(), bytes.end());
  });
  world_.start_all();
  ASSERT_TRUE(settle());
  world_.fabric().tap([](std::size_t, PortId, std::span<const std::byte>) {});
  world_.clock().run_for(1ms);  // a copy of a datagram that is on its way would be the first to arrive
  for (int i = 0; i < 300; ++i) {
    for (const auto& bytes : heard) world_.fabric().inject(0, near.id, far.addresses[0].address, bytes);
    world_.clock().run_for(100ms);
  }
  EXPECT_EQ(measured(0), 300us);
  EXPECT_EQ(in_topology(0), 300);
}

TEST(MeasuredLatencies, OfManyCablesComeTogether) {
  NodeWorld world(2);
  const routing::Pairs pairs = routing::star_pairs(12);
  const auto cables = world.build(13, pairs);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    const auto [node, port] = world.fabric().ends_of(cables[i])[0];
    world.fabric().set_more_delay(node, port, i * 10us);
  }
  world.start_all();
  const auto all_known = [&](std::size_t node) {
    const auto found = world.node(node).paths().topology().cables();
    return found.size() == pairs.size() &&
           std::all_of(found.begin(), found.end(), [](const auto& cable) { return cable.latency_us.has_value(); });
  };
  ASSERT_TRUE(world.settle(5s, [&] { return all_known(0) && all_known(12); }));
  EXPECT_EQ(world.node(0).paths().topology(), world.node(12).paths().topology());
  world.clock().run_for(30s);
  EXPECT_LE(world.node(0).flooding().counters().originated, 6U) << "12 cables";
}

}  // namespace
}  // namespace cableway
