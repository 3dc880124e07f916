#include "sim/workload/binary_tree.h"

namespace cableway::workload {
namespace {

// The tree with root 0 in which odd ranks are leaves and the lowest set bit determines the height. A parent clears
// the lowest bit and sets the next one; if that is not a valid rank, it only clears the lowest bit.
int parent_in_first_tree(int rank, int ranks) {
  if (rank == 0) return -1;
  const int lowest = rank & -rank;
  const int parent = (rank ^ lowest) | (lowest << 1);
  return parent < ranks ? parent : rank ^ lowest;
}

// The second tree is the first with its ranks mirrored or, for an odd number of ranks, shifted by one: both swap leaves
// and inner nodes.
int renumber(int tree, int rank, int ranks) {
  if (tree == 0) return rank;
  return ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
}

int renumber_back(int tree, int rank, int ranks) {
  if (tree == 0) return rank;
  return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
}

int parent_of(int tree, int rank, int ranks) {
  const int parent = parent_in_first_tree(renumber(tree, rank, ranks), ranks);
  return parent < 0 ? -1 : renumber_back(tree, parent, ranks);
}

}  // namespace

TreePosition double_binary_tree(int tree, int rank, int ranks) {
  TreePosition position;
  position.parent = parent_of(tree, rank, ranks);
  for (int other = 0; other < ranks; ++other) {
    if (parent_of(tree, other, ranks) == rank) position.children.push_back(other);
  }
  return position;
}

}  // namespace cableway::workload
