// The node: discovers its cables and neighbours, floods advertisements, and computes paths. Wires the stages, none of
// which uses sockets:
//
//   inventory -> neighbours -> flooding (link-state database) -> agreed topology -> path planner
//
// core/linux/node/node_service.h runs it on a kernel, sim/ on a fabric in memory. One thread.
#ifndef CABLEWAY_CORE_NODE_NODE_H_
#define CABLEWAY_CORE_NODE_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/crypto/datagram_seal.h"
#include "core/discovery/control_channel.h"
#include "core/discovery/neighbours.h"
#include "core/event/event_log.h"
#include "core/event/problems.h"
#include "core/flooding/flooding.h"
#include "core/neighbour_shares.h"
#include "core/node/doubted_cable.h"
#include "core/node/path_planner.h"
#include "core/node/transit_check.h"
#include "core/paced_work.h"
#include "core/ports/port_inventory.h"
#include "core/ports/port_lost.h"
#include "core/session/session_message.h"
#include "core/wall_clock.h"

namespace cableway {

inline constexpr std::size_t kMaxDrainingCables = routing::kMaxAdvertisedAdjacencies;

struct NodeOptions {
  NodeIdentity identity;
  std::uint16_t relay_port = routing::kDefaultRelayPort;
  bool draining = false;  // relays no new circuits
  HelloTiming hello;
  // Nodes of one thread that share this pool store one copy of each advertisement.
  std::shared_ptr<routing::AdvertisementPool> advertisements;
  // For its events, and for Flooding. The default dates them all in 1970.
  WallClock wall_clock = [] { return WallTime{}; };
};

// The two ends of a cable, as this node sees them.
struct CableEnds {
  std::string own_address;  // IP literals
  std::string other_address;
  std::uint16_t relay_port = 0;  // the neighbour's
};

class Node final : private Neighbours::Listener, private Flooding::Listener {
 public:
  // Called on the node's thread. May read the node, must not destroy it.
  struct Observer {
    std::function<void()> topology_changed;
    std::function<void()> ports_changed;
    EventLog::Listener event;
    // Hellos pass over a cable, but not all data: circuits over it must end. Called before the topology loses the
    // cable.
    std::function<void(const PortLost&)> cable_unfit = [](const PortLost& /*lost*/) {};
    // A cable of this node is up. The argument is its name.
    std::function<void(const std::string&)> cable_up = [](const std::string& /*cable*/) {};
    // A neighbour has announced its TCP ports: check_transit() may have another answer. Takes at most an eighth of a
    // core, however often neighbours announce some.
    std::function<void()> ports_told = [] {};
  };

  // All references must outlive this. `random` returns unpredictable numbers, or in the simulator those of a seed.
  Node(const NodeOptions& options, Clock& clock, PortInventory& inventory, ControlChannel& channel,
       const DatagramSeal& seal, std::function<std::uint64_t()> random, Observer observer);
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start();
  // Announces to the neighbours that the node leaves; new paths then avoid it.
  void leave();
  void set_draining(bool draining);
  // Has no path lead over a cable of this node, by its name in the topology, or ends that. It drains until then, also
  // while it is unplugged; not beyond this process. The status tells why nothing changes: NotFound: no cable of this
  // node that is up has the name; ResourceExhausted: kMaxDrainingCables drain.
  absl::Status drain_cable(const std::string& name);
  absl::Status undrain_cable(const std::string& name);
  // What a cable loses of what its neighbour sends, in percent, of which 100 are the most; 0: nothing to speak of.
  // Paths use such cables last (routing/topology/lossy_cables.h).
  void set_loss(const std::string& cable, unsigned percent);
  // Those that drain by this node, sorted.
  const std::set<std::string>& draining_cables() const { return draining_cables_; }

  const NodeIdentity& identity() const { return neighbours_.identity(); }
  std::uint16_t relay_port() const { return options_.relay_port; }
  bool draining() const { return options_.draining; }
  // Tells the neighbours at which TCP ports processes of this node accept circuits; at most kMaxToldPorts.
  void tell_ports(TcpPorts ports) { flooding_.tell_ports({options_.relay_port, std::move(ports)}); }
  // Whether this node may relay the circuit: TransitCheck::check().
  absl::Status check_transit(const CircuitSetup& setup);
  // Up to date with all advertisements received so far, unless computing routes exceeds its share of a core (a twelfth;
  // only in unusually large clusters): then as of the last computation, and topology_changed() follows the next one.
  const PathPlanner& paths();
  // Cables that both ends advertise but that cannot be used, with the reason, as of paths().
  const std::vector<std::string>& left_out() const { return left_out_; }
  // Cables that this node's pulses do not fully trust. Replaces the earlier ones.
  void set_doubted(DoubtedCables doubted) { planner_.set_doubted(std::move(doubted)); }

  // A cable that is up. nullopt if there is none between the two ports, and until the neighbour's advertisement has
  // arrived.
  std::optional<CableEnds> find_cable(const ProbedCable& cable) const;
  // Whether a cable with these addresses is up; IPv6 zones are ignored.
  bool is_cable_up(const std::string& own_address, const std::string& other_address) const {
    return neighbour_at(own_address, other_address) != ShareHolder();
  }
  // The neighbour at the other end of that cable, and the port to it. ShareHolder(): no such cable is up.
  ShareHolder neighbour_at(const std::string& own_address, const std::string& other_address) const;
  // Those to which a cable is up, at each port.
  std::set<ShareHolder> share_holders() const;

  // The current problems for an operator to fix: of cables, of selected ports, of this node's name.
  std::vector<Problem> problems() const;
  // The addresses of all ports, at which circuits can arrive; link-local ones have their interface as scope.
  std::vector<std::string> addresses() const;
  Welcome welcome() const;

  const Neighbours& neighbours() const { return neighbours_; }
  const Flooding& flooding() const { return flooding_; }
  const EventLog& events() const { return events_; }
  // For events that the node's host finds.
  EventSink& event_sink() { return events_; }
  Instant now() const { return clock_.now(); }

 private:
  void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) override;
  void cable_unfit(const NeighbourKey& key, const Neighbour& neighbour, const std::string& reason) override;
  void adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, EventCode code,
                      const std::string& reason) override;
  void plugs_changed() override { advertise(); }
  void latencies_changed() override { advertise(); }
  void segment(const NeighbourKey& key, std::span<const std::byte> body) override;
  void problem(const Problem& problem, EventFields fields) override;
  void send_segment(const NeighbourKey& key, std::span<const std::byte> body) override;
  void database_changed() override;
  void defended(const NeighbourKey& from, const routing::AdvertisementVersion& version) override;
  void disbelieved(const NeighbourKey& from, const routing::Advertisement& advertisement) override;
  void crowded(const Crowd& crowd) override;
  void ports_told() override;

  void update_ports();
  void note_rejected_ports();
  void notify_soon();
  std::string text_of(const Crowd& crowd) const;
  void note_namesake();
  void note_flooded(const NeighbourKey& from, EventCode code, std::uint64_t about, const std::string& text);
  void note_left_out(std::vector<std::string> left_out);
  void note_refused_topology(const absl::Status& updated);
  void advertise();
  void pass_on_ports_told();
  std::string name_of(const Neighbour& neighbour) const;

  NodeOptions options_;
  Clock& clock_;
  PortInventory& inventory_;
  Observer observer_;
  EventLog events_;
  Neighbours neighbours_;
  Flooding flooding_;
  PathPlanner planner_;
  std::set<std::string> draining_cables_;
  TransitCheck transit_;
  std::vector<std::string> left_out_;
  std::map<std::string, std::uint8_t> loss_percent_;  // of cables that lose packets
  bool planner_is_old_ = true;
  PacedWork route_pace_;
  PacedWork told_pace_;
  unsigned defences_ = 0;  // in quick succession
  Instant defended_at_;
  std::vector<Problem> port_problems_;
  Problems flooded_problems_;  // of what neighbours have flooded
  std::optional<Problem> name_problem_;
  std::optional<Problem> topology_problem_;
  std::unique_ptr<Timer> changed_;
  std::unique_ptr<Timer> told_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_NODE_H_
