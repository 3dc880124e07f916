// Checks the rules for nodes (adjacencies, databases, routes, bounds) against what the cables have actually carried.
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
  // Taps the fabric.
  explicit NodeRules(SimtestGround& ground);

  // To be called whenever a node starts or ends, and when it starts or stops draining.
  void node_started(std::size_t node);
  void set_draining(std::size_t node, bool draining) { draining_[node] = draining; }

  // To be called at regular intervals while the world runs.
  void check();
  // Whether nodes that reach each other hold the same databases, and nothing is in flight.
  bool agree() const;
  // To be called when all faults are over.
  void check_at_end();

  // Cables of the node's part of the world that actually work, by name, as the node has them in its topology.
  struct Sight {
    std::vector<std::string> known;
    std::vector<std::string> missing;
  };
  // Without those of the nodes `except`.
  Sight sight(std::size_t node, const std::set<std::size_t>& except) const;
  // Rules 2 and 3: the node's topology has all of them, and no other.
  void check_topology(std::size_t node);
  // Where the node's topology and the cables of its part of the world differ: cables that it lacks, and cables that do
  // not work. The cables `except` count as if there were none.
  struct Difference {
    std::vector<std::string> missing;
    std::vector<std::string> extra;
    bool none() const { return missing.empty() && extra.empty(); }
  };
  Difference difference(std::size_t node, const std::set<std::string>& except) const;
  // Whether there actually is a path over cables, and through nodes, that are not draining.
  bool reaches(std::size_t from, std::size_t to) const;

 private:
  using Way = CableFabric::Way;
  struct Heard {
    Instant last;
    Instant last_full_size;
    std::uint64_t boot_nonce = 0;
  };
  // A pair of ports that actually hear each other.
  struct TrueCable {
    std::size_t a = 0;
    std::size_t b = 0;
    std::string name;
    bool drains = false;  // by one of its nodes
  };

  // Liars come after all nodes.
  bool is_liar(std::size_t node) const { return node >= ground_.nodes.size(); }
  bool leads_to_liar(std::size_t node, PortId port) const;
  bool is_held_back(std::size_t node, PortId port) const;
  void check_adjacencies(std::size_t node);
  void check_adjacency(std::size_t node, const NeighbourKey& key, const Neighbour& neighbour);
  void check_versions(std::size_t node);
  void check_bounds(std::size_t node);
  void count_datagram(std::size_t node);

  std::vector<TrueCable> true_cables() const;
  std::vector<std::size_t> components() const { return components(true_cables()); }
  std::vector<std::size_t> components(const std::vector<TrueCable>& cables) const;
  std::vector<std::size_t> distances(std::size_t from) const;
  void check_topology(std::size_t node, const std::vector<TrueCable>& cables,
                      const std::vector<std::size_t>& components);
  Difference difference(std::size_t node, const std::vector<TrueCable>& cables,
                        const std::vector<std::size_t>& components) const;
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
