// The double binary tree: two binary trees over the same ranks in which a rank that is an inner node of one is a leaf
// of the other, so that every rank sends and receives about the same amount when each tree carries half of the data.
//
// Source: P. Sanders, J. Speck, J. L. Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35 (2009). The numbering is the one that NCCL builds between nodes: on four ranks the trees use
// the edges 0-2, 2-1, 2-3 and 3-1, 1-2, 1-0.
#ifndef CABLEWAY_SIM_WORKLOAD_BINARY_TREE_H_
#define CABLEWAY_SIM_WORKLOAD_BINARY_TREE_H_

#include <vector>

namespace cableway::workload {

struct TreePosition {
  int parent = -1;            // -1 at the root
  std::vector<int> children;  // at most two, ascending
};

// The position of `rank` in tree 0 or tree 1 of the double tree over `ranks` ranks.
TreePosition double_binary_tree(int tree, int rank, int ranks);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_BINARY_TREE_H_
