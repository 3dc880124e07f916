// Whose a connection to a node is (core/neighbour_shares.h): whole nodes in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "core/neighbour_shares.h"
#include "core/node/node.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;

TEST(ShareHoldersTest, ANeighbourIsOneAtEachPort) {
  sim::NodeWorld world(1);
  world.build(3, {{0, 1}, {0, 1}, {0, 2}});
  world.start_all();
  const Node& node = world.node(0);
  ASSERT_TRUE(world.settle(
      2s, [&] { return node.share_holders().size() == 3 && world.node(0).paths().topology().cable_count() == 3; }));
  std::set<ShareHolder> found;
  std::multiset<std::string> names;
  for (const auto& [key, neighbour] : node.neighbours().all()) {
    const std::string own = routing::to_text(neighbour.addresses.ours);
    const std::string other = routing::to_text(neighbour.addresses.theirs);
    EXPECT_EQ(node.neighbour_at(own, other), (ShareHolder{neighbour.our_interface, neighbour.name}));
    EXPECT_EQ(node.neighbour_at(other, own), ShareHolder());
    found.insert(node.neighbour_at(own, other));
    names.insert(neighbour.name);
  }
  EXPECT_EQ(found, node.share_holders());
  EXPECT_EQ(names, (std::multiset<std::string>{"n1", "n1", "n2"}));
}

}  // namespace
}  // namespace cableway
