// What the rules say of nodes: adjacencies, databases, routes, bounds; held against what the cables have truly carried.
#ifndef CABLEWAY_SIM_SIMTEST_NODE_RULES_H_
#define CABLEWAY_SIM_SIMTEST_NODE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/link_state/advertisement.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

class NodeRules {
 public:
  // Listens to the fabric.
  explicit NodeRules(SimtestGround& ground);

  // To be called whenever a node starts or ends, and when it drains or does not any more.
  void node_started(std::size_t node);
  void set_draining(std::size_t node, bool draining) { draining_[node] = draining; }

  // While the world runs, at even intervals.
  void look();
  // Whether the nodes that reach each other hold the same databases, and nothing is on its way.
  bool agree() const;
  // When nothing goes wrong any more.
  void look_at_rest();
  // Whether there is a path, in truth, through nodes that do not drain.
  bool reaches(std::size_t from, std::size_t to) const;

 private:
  using Way = CableFabric::Way;
  struct Heard {
    Instant last;
    std::uint64_t boot_nonce = 0;
  };
  // A pair of ports that hear each other, in truth.
  struct TrueCable {
    std::size_t a = 0;
    std::size_t b = 0;
    std::string name;
  };

  void look_at_adjacencies(std::size_t node);
  void look_at_adjacency(std::size_t node, const NeighbourKey& key, const Neighbour& neighbour);
  void look_at_versions(std::size_t node);
  void look_at_bounds(std::size_t node);
  void count_datagram(std::size_t node);

  std::vector<TrueCable> true_cables() const;
  std::vector<std::size_t> components() const;
  std::vector<std::size_t> distances(std::size_t from) const;
  void check_topology(std::size_t node, const std::vector<TrueCable>& cables,
                      const std::vector<std::size_t>& components);
  void check_routes(std::size_t node);

  Duration hold() const { return ground_.plan.hold; }

  SimtestGround& ground_;
  std::map<routing::NodeId, std::size_t> numbers_;
  std::map<Way, Heard> heard_;
  std::vector<Instant> started_;
  std::vector<bool> draining_;
  std::vector<std::map<routing::NodeId, routing::AdvertisementVersion>> versions_;  // by node
  std::vector<std::uint64_t> datagrams_;                                            // by node, since second_
  Instant second_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_NODE_RULES_H_
