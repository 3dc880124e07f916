// A node with the cluster's key that invents nodes and cables: real nodes and their cables stay, and others join.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/node/node.h"
#include "routing/link_state/advertisement_weight.h"
#include "sim/nodes/invented_crowd.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"
#include "tests/core/node/first_path.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::CrowdShape;
using sim::InventedCrowd;
using sim::LyingNode;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kReal = 6;
constexpr std::size_t kLiar = kReal;
constexpr std::size_t kLate = kReal - 1;

//  n0 - n1 - n2 - n3 - n4 - n5     n6 invents nodes, n5 starts late.
//    \  /
//     n6
class CrowdWorld : public ::testing::Test {
 protected:
  CrowdWorld() {
    world_.build(kReal + 1, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {kLiar, 0}, {kLiar, 1}});
    liar_ = std::make_unique<LyingNode>(NodeIdentity{"test", "n6", 1}, world_.clock(), world_.fabric().ports_of(kLiar),
                                        no_seal_);
    for (std::size_t i = 0; i < kLate; ++i) world_.start(i);
    liar_->start();
    world_.clock().run_for(1s);
    EXPECT_EQ(liar_->neighbours_up(), 2U);
    EXPECT_TRUE(all_see_real_cables(kLate));
  }

  void invent(const std::string& prefix, const CrowdShape& shape) {
    const InventedCrowd crowd = sim::invented_crowd("test", "n6", prefix, shape);
    if (shape.cables_of_head > 0) liar_->claim(crowd.head_ports, crowd.head_adjacencies);
    for (const routing::Advertisement& node : crowd.nodes) liar_->say(node);
  }

  // All of the first `nodes` hold each other's advertisements. The first one and the last two, as computing routes in a
  // crowd takes long, also have the cables between all, and paths.
  bool all_see_real_cables(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t j = 0; j < nodes; ++j) {
        if (world_.node(i).flooding().database().find(world_.node(j).identity().id()) == nullptr) return false;
      }
    }
    return sees_real_cables(0, nodes) && sees_real_cables(nodes - 2, nodes) && sees_real_cables(nodes - 1, nodes);
  }
  bool sees_real_cables(std::size_t node, std::size_t nodes) {
    const PathPlanner& paths = world_.node(node).paths();
    for (std::size_t other = 0; other < nodes; ++other) {
      if (other != node && !test::first_path(paths, name(other), 0).ok()) return false;
      if (other == 0) continue;
      const auto here = paths.topology().find_node(name(other - 1));
      const auto there = paths.topology().find_node(name(other));
      if (!here || !there || paths.topology().cables_between(*here, *there).size() != 1) return false;
    }
    return true;
  }
  static std::string name(std::size_t node) { return "n" + std::to_string(node); }

  // Runs while none of the first `nodes` loses another one. False: one did.
  bool run_whole(Duration time, std::size_t nodes) {
    const Instant end = world_.clock().now() + time;
    while (world_.clock().now() < end) {
      world_.clock().run_for(1s);
      if (!all_see_real_cables(nodes)) return false;
    }
    return true;
  }
  // How long it takes until all see the late node.
  Duration join() {
    const Instant begin = world_.clock().now();
    world_.start(kLate);
    while (!all_see_real_cables(kReal) && world_.clock().now() - begin < 10s) world_.clock().run_for(250ms);
    return world_.clock().now() - begin;
  }
  std::vector<std::string> problems(std::size_t node) {
    std::vector<std::string> texts;
    for (const Problem& problem : world_.node(node).problems()) texts.push_back(problem.text);
    return texts;
  }
  void expect_bounded() {
    for (std::size_t i = 0; i < kReal; ++i) {
      if (!world_.runs(i)) continue;
      const routing::LinkStateDatabase& database = world_.node(i).flooding().database();
      EXPECT_LE(database.size(), routing::kMaxNodes);
      EXPECT_LE(database.weight(), routing::kMaxWeight * 5 / 4);
    }
  }
  std::size_t most_held() {
    std::size_t most = 0;
    for (std::size_t i = 0; i < kReal; ++i) {
      if (world_.runs(i)) most = std::max(most, world_.node(i).flooding().database().size());
    }
    return most;
  }

  NoSeal no_seal_;
  NodeWorld world_{1};
  std::unique_ptr<LyingNode> liar_;
};

struct NamedShape {
  const char* name;
  CrowdShape shape;
  friend void PrintTo(const NamedShape& named, std::ostream* out) { *out << named.name; }
};

class Crowds : public CrowdWorld, public ::testing::WithParamInterface<NamedShape> {};

INSTANTIATE_TEST_SUITE_P(
    Shapes, Crowds,
    ::testing::Values(NamedShape{"Chains", {4096, 1, 8}}, NamedShape{"FewerThanTheBound", {4090, 1, 60}},
                      NamedShape{"OneLongChain", {4096, 1, 1}}, NamedShape{"Unanchored", {4096, 1, 0}},
                      NamedShape{"WithoutCables", {4096, 0, 0}}, NamedShape{"ManyCables", {4096, 16, 8}},
                      NamedShape{"FatNodes", {1024, 30, 4}}, NamedShape{"Twice", {8192, 1, 8}}),
    [](const auto& shape) { return std::string(shape.param.name); });

TEST_P(Crowds, DisplaceNobodyAndKeepNobodyOut) {
  invent("c", GetParam().shape);
  ASSERT_TRUE(run_whole(3s, kLate)) << "no real node loses another one";
  EXPECT_LE(join(), 2s);
  EXPECT_TRUE(run_whole(2s, kReal));
  expect_bounded();
}

TEST_P(Crowds, KeepNobodyOutOnceTheirInventorHasLeft) {
  if (test::kSlowBuild && GetParam().shape.cables_each > 1) GTEST_SKIP() << "the other case has such a crowd, too";
  invent("c", GetParam().shape);
  ASSERT_TRUE(run_whole(2s, kLate));
  liar_->stop();
  EXPECT_LE(join(), 1s);
  EXPECT_TRUE(run_whole(1s, kReal));
}

TEST_F(CrowdWorld, InventedWithoutEndDisplaceNobody) {
  std::size_t round = 0;
  const auto more = [&] {
    invent("r" + std::to_string(round) + "-", {2048, 1, round % 3 == 0 ? 0U : 8U});
    world_.clock().run_for(250ms);
    ++round;
    return (round % 3 != 0 && !world_.runs(kLate)) || all_see_real_cables(world_.runs(kLate) ? kReal : kLate);
  };
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(more()) << "round " << round;
  world_.start(kLate);
  const Instant begin = world_.clock().now();
  while (!more() && world_.clock().now() - begin < 5s) continue;
  EXPECT_LE(world_.clock().now() - begin, 2s);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(more()) << "round " << round;
  expect_bounded();
}

TEST_F(CrowdWorld, AreReportedWithTheNodeBehindWhichTheyHang) {
  EXPECT_THAT(problems(3), IsEmpty());
  invent("c", {4096, 1, 8});
  world_.clock().run_for(3s);
  for (const std::size_t node : {0U, 1U, 3U}) {
    EXPECT_THAT(problems(node), Contains(AllOf(HasSubstr("more than the 4096 nodes"), HasSubstr("behind n6")))) << node;
    EXPECT_EQ(world_.node(node).events().count(EventCode::kTopologyCrowded), 1U);
  }
  liar_->stop();
  world_.clock().run_for(20s);
  EXPECT_THAT(problems(3), IsEmpty());
  EXPECT_LE(most_held(), kReal + 1);
}

TEST_F(CrowdWorld, UnanchoredOnesAreReportedWithThePortTheyCameOver) {
  invent("c", {6000, 1, 0});
  world_.clock().run_for(4s);
  EXPECT_THAT(problems(1), Contains(AllOf(HasSubstr("no known node has a cable to"), HasSubstr("over port eth"))));
}

}  // namespace
}  // namespace cableway
