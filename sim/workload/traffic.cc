#include "sim/workload/traffic.h"

#include <map>
#include <utility>

#include "sim/workload/binary_tree.h"

namespace cableway::workload {
namespace {

class TrafficSum {
 public:
  void add(int from, int to, std::uint64_t bytes) {
    if (from != to && bytes > 0) sum_[{from, to}] += bytes;
  }

  std::vector<RankTraffic> list() const {
    std::vector<RankTraffic> traffic;
    traffic.reserve(sum_.size());
    for (const auto& [ranks, bytes] : sum_) traffic.push_back({ranks.first, ranks.second, bytes});
    return traffic;
  }

 private:
  std::map<std::pair<int, int>, std::uint64_t> sum_;
};

// From every rank to the rank `distance` further on.
void add_shift(TrafficSum& sum, int ranks, int distance, std::uint64_t bytes) {
  for (int rank = 0; rank < ranks; ++rank) sum.add(rank, (rank + distance) % ranks, bytes);
}

void add_tree(TrafficSum& sum, int tree, int ranks, std::uint64_t bytes) {
  for (int rank = 0; rank < ranks; ++rank) {
    const int parent = double_binary_tree(tree, rank, ranks).parent;
    if (parent < 0) continue;
    sum.add(rank, parent, bytes);
    sum.add(parent, rank, bytes);
  }
}

void add_all_to_all(TrafficSum& sum, int ranks, std::uint64_t block) {
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) sum.add(from, to, block);
  }
}

}  // namespace

std::vector<RankTraffic> traffic_of(const Workload& workload, int ranks, std::uint64_t size) {
  const std::uint64_t n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t block = size / n;
  TrafficSum sum;
  switch (workload.operation) {
    case Operation::kAllReduceRing:
      add_shift(sum, ranks, 1, 2 * (size - block));
      break;
    case Operation::kAllReduceTree:
      add_tree(sum, 0, ranks, size - size / 2);
      add_tree(sum, 1, ranks, size / 2);
      break;
    case Operation::kAllGather:
    case Operation::kReduceScatter:
      add_shift(sum, ranks, 1, block * (n - 1));
      break;
    case Operation::kBroadcast:
    case Operation::kPipeline:
      for (int rank = 0; rank + 1 < ranks; ++rank) sum.add(rank, rank + 1, size);
      break;
    case Operation::kReduce:
      for (int rank = 1; rank < ranks; ++rank) sum.add(rank, (rank + 1) % ranks, size);
      break;
    case Operation::kAllToAll:
      add_all_to_all(sum, ranks, block);
      break;
    case Operation::kOpposite:
      add_shift(sum, ranks, ranks / 2, size);
      break;
    case Operation::kNeighbour:
      add_shift(sum, ranks, 1, size);
      break;
    case Operation::kPingPong:
      sum.add(workload.destination, workload.source, size);
      [[fallthrough]];
    case Operation::kPair:
      sum.add(workload.source, workload.destination, size);
      break;
  }
  return sum.list();
}

}  // namespace cableway::workload
