// A capacitated network and its minimum cuts.
//
// E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970. Not
// Boost's, because the bounds query one network repeatedly: only capacities change in between, and most queries only
// ask whether the flow reaches a limit.
#ifndef CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_
#define CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cableway::sim {

// Not thread-safe.
class CutNetwork {
 public:
  using Vertex = std::uint32_t;
  using Arc = std::uint32_t;
  using Capacity = std::int64_t;
  static constexpr Capacity kUnlimited = std::numeric_limits<Capacity>::max() / 4;

  explicit CutNetwork(std::size_t vertices) : first_(vertices, kNone), level_(vertices), next_(vertices) {}

  // Adds an arc and its reverse arc, which cancels its flow and may have its own capacity. Capacities are not negative;
  // those of all arcs that leave a vertex sum up to at most kUnlimited.
  Arc add_arc(Vertex from, Vertex to, Capacity capacity, Capacity back = 0);
  void set_capacity(Arc arc, Capacity capacity, Capacity back = 0) {
    capacity_[arc] = capacity;
    capacity_[arc + 1] = back;
  }

  // The maximum flow, or any flow of at least `limit`. Starts from zero flow.
  Capacity max_flow(Vertex source, Vertex sink, Capacity limit = kUnlimited);

  // After a max_flow() below its limit: whether `vertex` is on the source's side of the minimum cut with the fewest
  // vertices there.
  bool is_on_source_side(Vertex vertex) const { return level_[vertex] != kUnreached; }

 private:
  static constexpr Arc kNone = std::numeric_limits<Arc>::max();
  static constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

  bool find_levels(Vertex source, Vertex sink);
  Capacity push_along_levels(Vertex source, Vertex sink, Capacity most);

  std::vector<Arc> first_;  // by vertex
  std::vector<Vertex> to_;  // by arc; the reverse of arc k is k ^ 1
  std::vector<Arc> following_;
  std::vector<Capacity> capacity_;
  std::vector<Capacity> left_;
  std::vector<std::uint32_t> level_;  // by vertex
  std::vector<Arc> next_;             // by vertex: the next arc to try
  std::vector<Vertex> queue_;
  std::vector<Arc> path_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CUT_NETWORK_H_
