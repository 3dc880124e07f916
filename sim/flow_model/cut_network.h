// A capacitated network and its minimum cuts.
//
// E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970. Not
// Boost's, because the bounds ask one network again and again: only capacities change in between, and the question is
// mostly whether the flow reaches a limit.
#ifndef CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_
#define CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cableway::sim {

// One thread.
class CutNetwork {
 public:
  using Vertex = std::uint32_t;
  using Arc = std::uint32_t;
  using Capacity = std::int64_t;
  static constexpr Capacity kUnlimited = std::numeric_limits<Capacity>::max() / 4;

  explicit CutNetwork(std::size_t vertices) : first_(vertices, kNone), level_(vertices), next_(vertices) {}

  // An arc, and the one the other way, which takes its flow back and may have a capacity of its own. Capacities are 0
  // or more; all that leave a vertex sum up to at most kUnlimited.
  Arc add_arc(Vertex from, Vertex to, Capacity capacity, Capacity back = 0);
  void set_capacity(Arc arc, Capacity capacity, Capacity back = 0) {
    capacity_[arc] = capacity;
    capacity_[arc + 1] = back;
  }

  // The largest flow, or any that is at least `limit`. Starts from no flow.
  Capacity max_flow(Vertex source, Vertex sink, Capacity limit = kUnlimited);

  // After a max_flow() that stayed below its limit: whether the minimum cut with the fewest vertices on the source's
  // side has `vertex` there.
  bool is_on_source_side(Vertex vertex) const { return level_[vertex] != kUnreached; }

 private:
  static constexpr Arc kNone = std::numeric_limits<Arc>::max();
  static constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

  bool find_levels(Vertex source, Vertex sink);
  Capacity push_along_levels(Vertex source, Vertex sink, Capacity most);

  std::vector<Arc> first_;  // by vertex
  std::vector<Vertex> to_;  // by arc; the way back of arc k is k ^ 1
  std::vector<Arc> following_;
  std::vector<Capacity> capacity_;
  std::vector<Capacity> left_;
  std::vector<std::uint32_t> level_;  // by vertex
  std::vector<Arc> next_;             // by vertex: the arc to try
  std::vector<Vertex> queue_;
  std::vector<Arc> path_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_
