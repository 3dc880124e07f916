// Whom this node hears over its ports, and who hears it: hellos out, hellos in, the two-way check between them.
//
// A neighbour is one port of another node, heard over one port of ours; a cable stands while both hear each other. What
// cannot stand (another cluster, a wrong key, MTUs or addresses that do not fit, a name that is taken) is a Problem, in
// words that an operator can act on, for as long as it goes on.
//
// Timing as in BFD (RFC 5880): each side says how long it wants to be believed. A port that loses its carrier, and a
// neighbour that says it leaves, are down at once. One thread: the node's.
#ifndef CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_
#define CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/clock.h"
#include "core/discovery/cable_addresses.h"
#include "core/discovery/control_channel.h"
#include "core/discovery/control_datagram.h"
#include "core/discovery/port_hello.h"
#include "core/discovery/port_inventory.h"
#include "core/discovery/replay_window.h"
#include "core/event/event.h"
#include "routing/topology/node_id.h"

namespace cableway {

// Who this node is, in this incarnation.
struct NodeIdentity {
  std::string cluster;
  std::string name;
  std::uint64_t boot_nonce = 0;  // greater than in every earlier incarnation
  routing::NodeId id() const { return routing::node_id(cluster, name); }
};

struct HelloTiming {
  std::chrono::milliseconds interval{100};
  std::chrono::milliseconds hold{1000};  // several intervals: how long a silent node is believed
};

// A neighbour's place: our port, and its.
struct NeighbourKey {
  PortId port = 0;
  routing::NodeId node;
  PortId neighbour_port = 0;
  friend auto operator<=>(const NeighbourKey&, const NeighbourKey&) = default;
};

struct Neighbour {
  std::string name;
  std::string interface;  // the neighbour's
  std::uint64_t boot_nonce = 0;
  CableAddresses addresses;
  bool up = false;  // heard both ways
  Instant heard_since;
  Instant last_heard;
  std::uint32_t our_session = 0;    // tell this adjacency from earlier ones of the same two ports
  std::uint32_t their_session = 0;  // 0: not known yet
};

// What an operator should mend.
struct Problem {
  EventCode code = EventCode::kPortUnusable;
  std::string interface;  // "": it is about none
  std::string text;
  Instant since;
  Instant last_seen;
};

class Neighbours {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) = 0;
    // `code`: kCableLost, or kNeighbourLeft.
    virtual void adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, EventCode code,
                                const std::string& reason) = 0;
    // A segment from a neighbour that is up.
    virtual void segment(const NeighbourKey& key, std::span<const std::byte> body) = 0;
    // When it appears, not while it lasts. `fields`: what it is about.
    virtual void problem(const Problem& problem, EventFields fields) = 0;
  };

  struct Counters {
    std::uint64_t garbage = 0;   // no datagram of ours, or not as it should be
    std::uint64_t refused = 0;   // other version, cluster or key
    std::uint64_t replayed = 0;  // copies of what was heard before
    std::uint64_t unknown = 0;   // segments from whom no adjacency stands with
  };

  // Everything named outlives this. `random` gives numbers that nobody can guess, or that a seed decides.
  Neighbours(NodeIdentity identity, HelloTiming timing, Clock& clock, PortInventory& inventory, ControlChannel& channel,
             const DatagramSeal& seal, std::function<std::uint64_t()> random, Listener& listener);
  ~Neighbours();

  void start();
  // Says goodbye on every port. Nothing is sent or reported afterwards.
  void leave();
  // An incarnation with a greater nonce begins: every adjacency ends and is found again.
  void restart(std::uint64_t boot_nonce);
  // The ports have changed.
  void update_ports();

  // Best effort. `body` as link_segment.h makes it. Nothing is sent where `key` is not up.
  void send_segment(const NeighbourKey& key, std::span<const std::byte> body);

  const NodeIdentity& identity() const { return identity_; }
  const std::vector<PortFacts>& ports() const { return ports_; }
  const std::map<NeighbourKey, Neighbour>& all() const { return public_; }
  std::vector<Problem> problems() const;
  const Counters& counters() const { return counters_; }

 private:
  struct Heard {  // what of a neighbour nobody else needs
    ReplayWindow window;
    std::uint64_t hello = 0;  // counter of the newest
    Duration hold{0};
    Duration excused{0};  // since it was heard last: when this node itself stood still
    routing::PortAddress from;
  };
  using ProblemKey = std::tuple<PortId, EventCode, std::uint64_t>;

  void receive(const ReceivedDatagram& datagram);
  void receive_hello(const PortFacts& port, const ControlDatagram& datagram, const routing::PortAddress& from);
  void receive_segment(const PortFacts& port, const ControlDatagram& datagram);
  void note_fault(const PortFacts& port, ControlFault fault, const ControlDatagram& datagram,
                  const routing::PortAddress& from);
  bool is_other_node_of_that_name(const PortFacts& port, const ControlDatagram& datagram, const PortHello& hello);
  Neighbour* admit(const NeighbourKey& key, const ControlDatagram& datagram, const PortHello& hello);
  void match(const PortFacts& port, const NeighbourKey& key, const PortHello& hello);
  bool is_new(const NeighbourKey& key, const ControlDatagram& datagram);
  std::uint32_t new_session();
  void check_two_way(const NeighbourKey& key, const PortHello& hello);
  void forget(const NeighbourKey& key, const std::string& reason, EventCode code = EventCode::kCableLost);
  void forget_if(const std::function<bool(const NeighbourKey&)>& gone, const std::string& reason);
  void tick();
  void excuse_standstill();
  void forget_silent();
  void send_hellos(bool leaving);
  void send_hello(const PortFacts& port, bool leaving);
  void hello_soon(PortId port);
  void send(PortId port, const routing::PortAddress* to, ControlKind kind, std::span<const std::byte> body);
  // `other`: who or what is at the other end; the port is put before it.
  void set_problem(EventCode code, const PortFacts& port, std::uint64_t about, std::string text, EventField other);
  void clear_problem(EventCode code, PortId port, std::uint64_t about);
  const PortFacts* find_port(PortId id) const;

  NodeIdentity identity_;
  routing::NodeId id_;
  std::uint64_t cluster_id_;
  HelloTiming timing_;
  Clock& clock_;
  PortInventory& inventory_;
  ControlChannel& channel_;
  const DatagramSeal& seal_;
  std::function<std::uint64_t()> random_;
  Listener& listener_;

  std::vector<PortFacts> ports_;
  std::map<NeighbourKey, Neighbour> public_;
  std::map<NeighbourKey, Heard> heard_;
  std::map<ProblemKey, Problem> problems_;
  std::set<PortId> hello_soon_;
  std::uint64_t counter_ = 0;
  Counters counters_;
  std::unique_ptr<Timer> tick_;
  Instant tick_due_;
  std::unique_ptr<Timer> soon_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_
