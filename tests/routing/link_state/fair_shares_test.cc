#include "routing/link_state/fair_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "routing/link_state/advertisement_weight.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes 0, 1, .. joined by cables; each cable has a port of its own at both ends.
class Cluster {
 public:
  explicit Cluster(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) add();
  }

  std::size_t add() {
    Advertisement node;
    node.name = "n" + std::to_string(nodes_.size());
    node.origin = node_id("lab", node.name);
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  void join(std::size_t a, std::size_t b) { join_ports(a, add_port(a), b, add_port(b)); }
  // As on a switch, ports can end several cables.
  void join_ports(std::size_t a, std::uint32_t a_port, std::size_t b, std::uint32_t b_port) {
    nodes_[a].adjacencies.push_back({a_port, nodes_[b].origin, b_port, {}});
    nodes_[b].adjacencies.push_back({b_port, nodes_[a].origin, a_port, {}});
  }
  std::uint32_t add_port(std::size_t node) {
    nodes_[node].ports.push_back(
        {.id = static_cast<std::uint32_t>(nodes_[node].ports.size() + 1), .interface = "eth", .plug = "", .root = ""});
    return nodes_[node].ports.back().id;
  }
  // A chain of `nodes` new ones that hangs on `node`.
  void hang_chain(std::size_t node, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t next = add();
      join(node, next);
      node = next;
    }
  }
  // So many new ones that hang on `node`, on one port each or all on one.
  void hang_star(std::size_t node, std::size_t nodes, bool one_port) {
    const std::uint32_t shared = one_port ? add_port(node) : 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t next = add();
      join_ports(node, one_port ? shared : add_port(node), next, add_port(next));
    }
  }

  Advertisement& node(std::size_t i) { return nodes_[i]; }
  std::size_t size() const { return nodes_.size(); }
  // As node 0 sees it, with space for so many nodes of least weight.
  FairShares share(std::size_t space) const {
    std::vector<const Advertisement*> nodes;
    for (const Advertisement& each : nodes_) nodes.push_back(&each);
    return fair_shares(nodes, nodes_[0].origin, space * kLeastWeight);
  }

 private:
  std::vector<Advertisement> nodes_;
};

std::size_t count(const std::vector<bool>& kept, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) count += kept[i] ? 1 : 0;
  return count;
}

TEST(FairShares, KeepAllThatAreAnchoredWhileTheyFit) {
  Cluster cluster(4);
  cluster.join(0, 1);
  cluster.join(1, 2);
  const FairShares shares = cluster.share(3);
  EXPECT_THAT(shares.kept, ElementsAre(true, true, true, false));
  EXPECT_THAT(shares.anchored, ElementsAre(true, true, true, false));
  EXPECT_EQ(shares.weight, 3 * kLeastWeight);
  EXPECT_THAT(shares.crowd, IsEmpty());
}

TEST(FairShares, AChainNeedsBothEndsOfEveryCable) {
  Cluster cluster(3);
  cluster.join(0, 1);
  cluster.join(1, 2);
  cluster.node(1).adjacencies.pop_back();
  EXPECT_THAT(cluster.share(3).anchored, ElementsAre(true, true, false));
  cluster.node(0).adjacencies.clear();
  EXPECT_THAT(cluster.share(3).anchored, ElementsAre(true, false, false));
}

TEST(FairShares, RingsToriLinesAndMeshesFit) {
  for (const Pairs& pairs : {ring_pairs(4096), torus_pairs(64, 64), line_pairs(4096)}) {
    Cluster cluster(4096);
    for (const auto& [a, b] : pairs) cluster.join(a, b);
    const FairShares shares = cluster.share(4096);
    EXPECT_EQ(count(shares.kept, 0, 4096), 4096U);
    EXPECT_EQ(shares.left_out, 0U);
  }
  Cluster mesh(181);
  for (const auto& [a, b] : mesh_pairs(181)) mesh.join(a, b);
  EXPECT_EQ(mesh.share(4096).left_out, 0U);
}

// 0 - 1 - 2 - .. - 9; a crowd hangs on 3.
TEST(FairShares, ACrowdDisplacesNothingElsewhere) {
  for (const bool one_port : {false, true}) {
    Cluster cluster(10);
    for (const auto& [a, b] : line_pairs(10)) cluster.join(a, b);
    cluster.hang_star(3, 60, one_port);
    const FairShares shares = cluster.share(30);
    EXPECT_EQ(count(shares.kept, 0, 10), one_port ? 10U : 5U) << "3 splits what it has among its ports";
    EXPECT_LE(shares.weight, 30 * kLeastWeight);
    EXPECT_GE(shares.weight, 28 * kLeastWeight - 60);
    EXPECT_THAT(shares.crowd, ElementsAre(0, 1, 2, 3));
  }
}

//   1 - 2 - 3      a chain of 20 hangs on 1, one of 100 on 4.
//  0
//   4
TEST(FairShares, NeighboursShareAlikeWhatTheyBothWant) {
  Cluster cluster(5);
  cluster.join(0, 1);
  cluster.join(1, 2);
  cluster.join(2, 3);
  cluster.join(0, 4);
  cluster.hang_chain(1, 20);
  cluster.hang_chain(4, 100);
  FairShares shares = cluster.share(61);
  EXPECT_EQ(count(shares.kept, 5, 25), 20U) << "what asks for less than half gets all";
  EXPECT_EQ(count(shares.kept, 25, 125), 61U - 1 - 23 - 1);
  shares = cluster.share(31);
  EXPECT_EQ(count(shares.kept, 5, 25), 15U - 3);
  EXPECT_EQ(count(shares.kept, 25, 125), 15U - 1);
}

// Where equal shares are too small for a node, those held longest stay.
TEST(FairShares, TheFirstInTheListStay) {
  Cluster cluster(2);
  cluster.join(0, 1);
  cluster.hang_star(1, 20, true);
  const FairShares shares = cluster.share(12);
  EXPECT_EQ(count(shares.kept, 0, 10), 10U);
  EXPECT_EQ(count(shares.kept, 10, 22), 0U);
}

//  0 - 1 - 2 - 3 - 4 - 5 - 6 - 7 - 0: a ring. A crowd hangs on 1.
TEST(FairShares, WhoIsReachedAroundACrowdHangsElsewhere) {
  Cluster cluster(8);
  for (const auto& [a, b] : ring_pairs(8)) cluster.join(a, b);
  for (int i = 0; i < 62; ++i) cluster.hang_chain(1, 4);
  const FairShares shares = cluster.share(40);
  EXPECT_EQ(count(shares.kept, 0, 8), 8U);
  EXPECT_THAT(shares.crowd, ElementsAre(0, 1));
}

TEST(FairShares, AdjacenciesWeigh) {
  Cluster cluster(3);
  cluster.join(0, 1);
  cluster.join(0, 2);
  for (int i = 0; i < 200; ++i) cluster.add_port(2);
  EXPECT_THAT(cluster.share(4).kept, ElementsAre(true, true, false));
  EXPECT_THAT(cluster.share(32).kept, ElementsAre(true, true, true));
}

}  // namespace
}  // namespace cableway::routing
