// Verifies that the checker finds the cycle that shared slots would cause.
#include "sim/simtest/rules/resource_graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/prediction/path_chooser.h"
#include "sim/simtest/saturation.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

class Idle final : public LinkUser {
 public:
  void wake() override {}
};

// All-to-all on a ring, set up but not started.
class RingWorld {
 public:
  explicit RingWorld(std::size_t nodes)
      : topology_(routing::sample_topology(nodes, routing::ring_pairs(static_cast<std::uint32_t>(nodes)))),
        world_(clock_, topology_, CircuitOptions()) {
    PathChooser paths(topology_);
    for (std::uint32_t a = 0; a < nodes; ++a) {
      for (std::uint32_t b = 0; b < nodes; ++b) {
        if (a != b) world_.open(paths.next(routing::NodeIndex{a}, routing::NodeIndex{b}), idle_, idle_);
      }
    }
  }
  const CircuitWorld& world() const { return world_; }

 private:
  Idle idle_;
  VirtualClock clock_;
  routing::Topology topology_;
  CircuitWorld world_;
};

TEST(ResourceGraph, HasNoCycleIfEveryCircuitHasItsOwnSlot) {
  const RingWorld ring(7);
  ResourceGraph graph;
  add_waits(ring.world(), graph);
  EXPECT_GT(graph.waits(), 100U);
  EXPECT_TRUE(graph.find_cycle().empty());
}

TEST(ResourceGraph, FindsTheCycleOfSlotsThatCircuitsShareOnARing) {
  const RingWorld ring(7);
  std::vector<char> one_of_each_node(7);
  ResourceGraph graph;
  add_waits(
      ring.world(), [&](routing::NodeIndex node, const Slot*) { return &one_of_each_node[node.value]; }, graph);
  const std::vector<std::string> cycle = graph.find_cycle();
  ASSERT_GT(cycle.size(), 3U);
  EXPECT_EQ(cycle.front(), cycle.back());
}

TEST(ResourceGraph, FindsACycleOfTwoAndNoneInADiamond) {
  const char a = 0;
  const char b = 0;
  const char c = 0;
  const char d = 0;
  ResourceGraph graph;
  graph.add(&a, "a", &b, "b");
  graph.add(&a, "a", &c, "c");
  graph.add(&b, "b", &d, "d");
  graph.add(&c, "c", &d, "d");
  EXPECT_TRUE(graph.find_cycle().empty());
  graph.add(&d, "d", &b, "b");
  EXPECT_EQ(graph.find_cycle(), (std::vector<std::string>{"b", "d", "b"}));
}

TEST(Saturation, EverythingArrives) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const SimtestResult result = run_saturation(seed, 12);
    EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
    EXPECT_EQ(result.done, result.messages);
  }
}

}  // namespace
}  // namespace cableway::sim
