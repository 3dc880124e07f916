// Computes the paths of this node's flows, and decides which set-ups it may relay, from one topology.
//
//   topology -> route table -> the hops of a flow; hops that a set-up names -> check that they are this node's cables
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_NODE_PATH_PLANNER_H_
#define CABLEWAY_CORE_NODE_PATH_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop.h"
#include "core/circuit/path_offer.h"
#include "core/node/doubted_cable.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway {

class PathPlanner {
 public:
  // Has only its own node until update().
  explicit PathPlanner(std::string name);

  // Replaces the topology and computes the routes again. NotFound: the topology has no node of this name. Existing
  // circuits keep their paths.
  absl::Status update(std::shared_ptr<const routing::Topology> topology);
  // Of this node's ports, for flows between two of its processes.
  void set_addresses(std::vector<std::string> addresses) { addresses_ = std::move(addresses); }

  // Restricts the paths that this node offers and the set-ups that it relays. A cable that is only_relayed still serves
  // circuits that end at the neighbour. One that is proving serves set-ups to be relayed, and paths to nodes that
  // cannot be reached otherwise. Replaces the earlier set; topology() keeps the cables.
  void set_doubted(DoubtedCables doubted);

  const std::string& name() const { return name_; }
  const routing::Topology& topology() const { return *topology_; }
  // Without cables that may not be used; neighbours whose node stands still relay nothing.
  const routing::RouteTable& routes() const { return usable_.routes; }
  bool reaches(const std::string& node) const;

  // At least one and at most `most` paths for the `ordinal`-th flow from here to `destination`
  // (routing/offers/path_offers.h), each of at most kMaxHops hops. Between two processes of this node there is one, of
  // one hop that crosses no cable. NotFound: no such node; Unavailable: no path. Both name the two nodes and, if the
  // destination was reachable before, the reachable node nearest to it. Precondition: most >= 1.
  //
  // Where there is room for more, the last offers use cables that are left out because they lose packets: another node
  // may know that the better path is silent, which this one does not know.
  absl::StatusOr<std::vector<PathOffer>> paths_for_flow(const std::string& destination, std::uint64_t ordinal,
                                                        std::size_t most) const;

  // The same for inquiries, which are small. Paths over doubted cables follow, up to `most` in all. If no path may
  // carry a circuit, the last known path follows, too: one of its cables may have left the topology because it loses
  // large packets, and still pass small ones.
  absl::StatusOr<std::vector<PathOffer>> paths_for_inquiry(const std::string& destination, std::uint64_t ordinal,
                                                           std::size_t most) const;

  // Whether this node may relay an arrived set-up: the set-up must name this node, and the hop it arrived over and the
  // next one must be cables of this node, with the neighbours and addresses that the topology has for them. So an
  // untrusted peer cannot choose where a relay connects to. The next hop may have any TCP port. NotFound: the topology
  // lacks one of the cables, or one of them drains. Unavailable: doubts forbid this circuit one of them. An inquiry may
  // use such cables, and those that this node had before.
  absl::Status check_transit(const CircuitSetup& setup) const;
  // Whether check_transit() fails because one of the cables drains. Precondition: the set-up does not end here.
  bool drains(const CircuitSetup& setup) const { return !check_drains(setup).ok(); }

 private:
  absl::StatusOr<std::vector<PathOffer>> local_path() const;
  absl::Status check_cables(const CircuitSetup& setup) const;
  absl::Status check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const;
  absl::Status check_drains(const CircuitSetup& setup) const;
  absl::Status check_doubts(const Hop& hop, bool to_relay) const;
  std::string doubts_text() const;
  // A part of the topology, and the routes in it.
  struct Usable {
    std::shared_ptr<const routing::Topology> topology;
    routing::RouteTable routes;
    bool reaches(const std::string& node) const;
  };
  enum class Beyond { kNothing, kProving, kLossy };
  Usable usable_in(const std::shared_ptr<const routing::Topology>& topology, Beyond beyond) const;
  std::optional<Usable> proving_in(const std::shared_ptr<const routing::Topology>& topology) const;
  std::optional<Usable> plugged_in(const std::shared_ptr<const routing::Topology>& topology) const;
  std::optional<Usable> lossy_in(const std::shared_ptr<const routing::Topology>& topology) const;
  const Usable& usable_for(const std::string& node) const;
  void remember_lost(const Usable& now);
  void remember_paths(const Usable& now);
  void remember_cables(const routing::Topology& now);
  bool had_hop(const Hop& hop, const std::string& neighbour, bool any_port) const;
  absl::Status unreachable(const std::string& destination) const;
  void offer_lossy(routing::NodeIndex destination, std::uint64_t ordinal, std::size_t most,
                   std::vector<PathOffer>& offers) const;

  std::string name_;
  std::vector<std::string> addresses_;
  std::shared_ptr<const routing::Topology> topology_;
  DoubtedCables doubted_;
  Usable usable_;                  // topology_ without them
  std::optional<Usable> proving_;  // with those that are proving, if any is
  std::optional<Usable> plugged_;  // for inquiries: with all of them, if there are any
  std::optional<Usable> lossy_;    // with those that are left out as they lose packets, if any is
  routing::NodeIndex self_;
  // kMostLost of each at most. By node that was reachable before: the last node of the path to it that was still
  // reachable when it was lost.
  static constexpr std::size_t kMostLost = 1024;
  std::map<std::string, std::string> nearest_to_lost_;
  // For inquiries. By node that was reachable before: the last path to it.
  std::map<std::string, std::vector<Hop>> last_paths_;
  // By cable of this node that the topology had before.
  struct LostCable {
    std::string neighbour;
    Hop leaving;
    Hop arriving;
  };
  std::map<std::string, LostCable> lost_cables_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PATH_PLANNER_H_
