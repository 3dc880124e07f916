// What a crowd costs a node: memory, and the time of one pass over a full database.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "core/node/node.h"
#include "routing/link_state/advertisement_weight.h"
#include "routing/link_state/agreed_topology.h"
#include "routing/link_state/fair_shares.h"
#include "sim/nodes/invented_crowd.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;

// A line of /proc/self/status, in MiB.
double memory_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

void forget_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

// Of this process's processors: other programs may keep it waiting.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// One real node with an inventor of 4,096 nodes and 65,536 cables as its neighbour.
TEST(CrowdCost, ANodeKeepsToItsMemory) {
  sim::NodeWorld world(1);
  world.build(2, {{0, 1}});
  const NoSeal seal;
  sim::LyingNode liar({"test", "n1", 1}, world.clock(), world.fabric().ports_of(1), seal);
  liar.start();
  for (const char* prefix : {"a", "b"}) {
    const sim::InventedCrowd crowd = sim::invented_crowd("test", "n1", prefix, {4096, 16, 8});
    liar.claim(crowd.head_ports, crowd.head_adjacencies);
    for (const routing::Advertisement& node : crowd.nodes) liar.say(node);
  }
  const double before = memory_mib("VmRSS");
  forget_peak_memory();
  world.start(0);
  std::size_t most_cables = 0;
  for (int i = 0; i < 80; ++i) {
    world.clock().run_for(500ms);
    most_cables = std::max(most_cables, world.node(0).paths().topology().plugged_cables().size());
  }
  ASSERT_TRUE(liar.has_said_all());
  const double grown = memory_mib("VmHWM") - before;
  std::cout << "a crowd of 65,536 cables: " << most_cables << " of them held, " << grown << " MiB\n";
  EXPECT_GT(most_cables, 10'000U);
  if (!test::kSlowBuild) {
    EXPECT_LE(grown, 64);
  }
}

TEST(CrowdCost, APassTakesMilliseconds) {
  for (const sim::CrowdShape& shape : {sim::CrowdShape{4096, 1, 8}, {4096, 16, 8}, {1024, 30, 60}}) {
    sim::InventedCrowd crowd = sim::invented_crowd("test", "head", "c", shape);
    routing::Advertisement head;
    head.origin = routing::node_id("test", "head");
    head.name = "head";
    head.ports = crowd.head_ports;
    head.adjacencies = crowd.head_adjacencies;
    std::vector<const routing::Advertisement*> nodes = {&head};
    for (const routing::Advertisement& node : crowd.nodes) nodes.push_back(&node);
    routing::LinkStateDatabase database;
    for (const auto* node : nodes) database.offer(*node, {}, {});
    ASSERT_GT(database.size(), 500U);
    const double pass = seconds_of([&] { routing::fair_shares(nodes, head.origin, routing::kMaxWeight); });
    std::size_t cables = 0;
    const double topology =
        seconds_of([&] { cables = routing::agreed_topology("test", database)->topology.plugged_cables().size(); });
    std::cout << nodes.size() << " nodes with " << 2 * shape.cables_each << " cables each: shares take " << pass * 1e3
              << " ms, a topology of " << database.size() << " nodes and " << cables << " cables " << topology * 1e3
              << " ms\n";
    EXPECT_LT(pass, test::kSlowBuild ? 1 : 0.1);
  }
}

}  // namespace
}  // namespace cableway
