#include "sim/workload/binary_tree.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BinaryTreeTest, FourRanksMatchNccl) {
  EXPECT_EQ(double_binary_tree(0, 0, 4).parent, -1);
  EXPECT_THAT(double_binary_tree(0, 0, 4).children, ElementsAre(2));
  EXPECT_EQ(double_binary_tree(0, 2, 4).parent, 0);
  EXPECT_THAT(double_binary_tree(0, 2, 4).children, ElementsAre(1, 3));
  EXPECT_EQ(double_binary_tree(1, 3, 4).parent, -1);
  EXPECT_THAT(double_binary_tree(1, 3, 4).children, ElementsAre(1));
  EXPECT_EQ(double_binary_tree(1, 1, 4).parent, 3);
  EXPECT_THAT(double_binary_tree(1, 1, 4).children, ElementsAre(0, 2));
}

TEST(BinaryTreeTest, BothTreesReachEveryRankOnceWithAtMostTwoChildren) {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    for (int tree : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "tree " << tree << " of " << ranks);
      int roots = 0;
      std::set<int> reached;
      for (int rank = 0; rank < ranks; ++rank) {
        const TreePosition position = double_binary_tree(tree, rank, ranks);
        if (position.parent < 0) ++roots;
        EXPECT_LE(position.children.size(), 2U);
        for (int child : position.children) {
          EXPECT_EQ(double_binary_tree(tree, child, ranks).parent, rank);
          EXPECT_TRUE(reached.insert(child).second) << "rank " << child << " has two parents";
        }
        // Every rank reaches the root in a logarithmic number of steps.
        int depth = 0;
        for (int at = rank; at >= 0 && depth <= 9; at = double_binary_tree(tree, at, ranks).parent) ++depth;
        EXPECT_LE(depth, 9);
      }
      EXPECT_EQ(roots, 1);
      EXPECT_EQ(static_cast<int>(reached.size()), ranks - 1);
    }
  }
}

TEST(BinaryTreeTest, NoRankIsAnInnerNodeOfBothTrees) {
  for (int ranks = 3; ranks <= 64; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::size_t first = double_binary_tree(0, rank, ranks).children.size();
      const std::size_t second = double_binary_tree(1, rank, ranks).children.size();
      EXPECT_LE(std::min(first, second), 1U) << rank << " of " << ranks;
    }
  }
}

}  // namespace
}  // namespace cableway::workload
