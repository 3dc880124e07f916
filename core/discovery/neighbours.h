// Discovers neighbours: sends hellos on every port, receives those of others, and checks that both directions work.
// A neighbour counts only once it has answered a challenge, so that recorded hellos change nothing but a counter
// (life_challenges.h).
//
// A neighbour is one port of another node, heard over one port of ours; a cable is up while both hear each other and
// large packets pass. What prevents that (another cluster, a wrong key, MTUs or addresses that do not fit, large
// packets that are lost, a name that is taken) is a Problem, with a text that an operator can act on, for as long as it
// lasts.
//
// Timing as in BFD (RFC 5880): each side advertises its own hold time. A port that loses its carrier, and a neighbour
// that announces that it leaves, are down at once. One thread: the node's.
#ifndef CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_
#define CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_

#include <array>
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
#include "core/crypto/keyed_mac.h"
#include "core/discovery/cable_addresses.h"
#include "core/discovery/cable_latencies.h"
#include "core/discovery/control_channel.h"
#include "core/discovery/control_datagram.h"
#include "core/discovery/full_size_hellos.h"
#include "core/discovery/life_challenges.h"
#include "core/discovery/neighbour.h"
#include "core/discovery/port_hello.h"
#include "core/discovery/port_pairing.h"
#include "core/discovery/port_segments.h"
#include "core/event/event.h"
#include "core/event/problems.h"
#include "core/event/recent_names.h"
#include "core/ports/port_inventory.h"
#include "core/token_bucket.h"
#include "routing/topology/node_id.h"

namespace cableway {

// This node's identity in this incarnation.
struct NodeIdentity {
  std::string cluster;
  std::string name;
  std::uint64_t boot_nonce = 0;  // differs from that of every other incarnation
  routing::NodeId id() const { return routing::node_id(cluster, name); }
};

struct HelloTiming {
  std::chrono::milliseconds interval{100};
  std::chrono::milliseconds hold{1000};  // several intervals: how long neighbours keep a silent node
  // A node keeps a silent neighbour for at most this many times its own hold time, whatever hold time the neighbour's
  // hellos state.
  static constexpr int kMaxHolds = 4;
};

class Neighbours {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) = 0;
    // Hellos pass over the cable, but not all data: its large packets are lost, or an end has a lower MTU than when the
    // adjacency came up. adjacency_down() follows.
    virtual void cable_unfit(const NeighbourKey& key, const Neighbour& neighbour, const std::string& reason) = 0;
    // `code`: kCableLost, or kNeighbourLeft.
    virtual void adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, EventCode code,
                                const std::string& reason) = 0;
    // The sets of ports that share a wire have changed, and with them the plugs of ports().
    virtual void plugs_changed() = 0;
    // Latencies of neighbours that are up have become known or have changed.
    virtual void latencies_changed() = 0;
    // A segment from a neighbour that is up.
    virtual void segment(const NeighbourKey& key, std::span<const std::byte> body) = 0;
    // Called once when the problem appears. `fields`: the event's fields.
    virtual void problem(const Problem& problem, EventFields fields) = 0;
  };

  struct Counters {
    std::uint64_t garbage = 0;   // not Cableway's, or malformed
    std::uint64_t refused = 0;   // another version, cluster or key
    std::uint64_t replayed = 0;  // copies of earlier datagrams
    std::uint64_t unknown = 0;   // segments from nodes without an adjacency that is up
  };

  // How many hellos of one neighbour count. A node sends about 100 a second at most; one that sent thousands would take
  // this node's processor time. The burst is for those that waited while this node stalled.
  static constexpr std::chrono::milliseconds kHelloEvery{8};
  static constexpr int kHelloBurst = 64;

  // All references must outlive this. `random` returns unpredictable numbers, or in the simulator those of a seed.
  Neighbours(NodeIdentity identity, HelloTiming timing, Clock& clock, PortInventory& inventory, ControlChannel& channel,
             const DatagramSeal& seal, std::function<std::uint64_t()> random, Listener& listener);
  ~Neighbours();

  void start();
  // Sends a last hello that announces the leaving on every port. Nothing is sent or reported afterwards.
  void leave();
  // The ports have changed.
  void update_ports();

  // Best effort. `body` is of encode_link_segment(). Sends nothing if `key` is not up.
  void send_segment(const NeighbourKey& key, std::span<const std::byte> body);

  const NodeIdentity& identity() const { return identity_; }
  // The inventory's ports. Virtual ports that share a wire, as the hellos show, have its plug here (port_segments.h).
  const std::vector<PortFacts>& ports() const { return ports_; }
  const std::map<NeighbourKey, Neighbour>& all() const { return public_; }
  // What is heard and is no neighbour: it has not answered this node's challenge, has the name of another one, or found
  // no room.
  const std::map<LifeKey, Life>& challenged() const { return challenges_.all(); }
  std::vector<Problem> problems() const { return problems_.all(); }
  const Counters& counters() const { return counters_; }

 private:
  struct Heard {  // private state of a neighbour
    ReplayWindow window;
    TokenBucket hellos{kHelloEvery, kHelloBurst};
    std::uint64_t hello = 0;  // counter of the newest hello
    Duration hold{0};
    Duration hold_extension{0};  // stalls of this node since the last hello from it
    // When this node sent the newest of its hellos that the neighbour has echoed, extended by this node's stalls since:
    // the neighbour was alive after that time.
    Instant proved;
    routing::PortAddress from;
    std::vector<HelloAddress> addresses;  // of the port
    std::uint64_t their_number = 0;       // of its last hello about our port; 0: it does not hear that
    bool fits = false;                    // MTU and addresses
    std::uint32_t mtu = 0;                // of both ports, when the adjacency came up
  };

  struct ReceivedHello {
    PortHello hello;
    std::uint64_t counter = 0;
    std::size_t bytes = 0;  // of its datagram
    routing::PortAddress from;
    Instant arrival;
  };

  void receive(const ReceivedDatagram& datagram);
  void receive_hello(const PortFacts& port, const ControlDatagram& datagram, const routing::PortAddress& from,
                     Instant arrival);
  void take_hello(const PortFacts& port, const NeighbourKey& key, const ReceivedHello& received);
  void receive_segment(const PortFacts& port, const ControlDatagram& datagram);
  void note_fault(const PortFacts& port, ControlFault fault, const ControlDatagram& datagram,
                  const routing::PortAddress& from);
  bool admit(const PortFacts& port, const LifeKey& key, std::uint64_t counter, const PortHello& hello);
  bool is_own_name(const PortFacts& port, const LifeKey& key, std::uint64_t counter, const PortHello& hello);
  void note_own_hello(const PortFacts& port, const LifeKey& key, std::uint64_t counter, const PortHello& hello);
  Mac own_mac(const PortHello& hello) const;
  bool may_follow(const PortFacts& port, const LifeKey& key, const Life& life);
  bool has_room(const PortFacts& port, const LifeKey& key, const PortHello& hello);
  std::optional<std::string> address_conflict(const NeighbourKey& key, const routing::PortAddress& theirs) const;
  void report_namesake(const PortFacts& port, const LifeKey& key, const Life& life);
  void add_neighbour(const LifeKey& key);
  void bound_hold(const PortFacts& port, const NeighbourKey& key, PortHello& hello);
  const HeardNeighbour* entry_about_us(const PortHello& hello, PortId port) const;
  void take_ports();
  bool rebuild_segments();
  void update_segments();
  void pair(const PortSegment& segment, routing::NodeId node);
  void set_paired(const NeighbourKey& key, bool paired);
  void take_down(const NeighbourKey& key, const std::string& reason);
  void take_unfit_down(const NeighbourKey& key, const std::string& reason);
  void match(const PortFacts& port, const NeighbourKey& key, const PortHello& hello);
  bool is_new(const NeighbourKey& key, std::uint64_t counter);
  std::uint64_t new_adjacency_number();
  void check_two_way(const NeighbourKey& key, const PortHello& hello);
  void check_full_size(const NeighbourKey& key);
  void forget(const NeighbourKey& key, const std::string& reason, EventCode code = EventCode::kCableLost);
  void forget_if(const std::function<bool(const NeighbourKey&)>& gone, const std::string& reason);
  void tick();
  void extend_holds_after_stall();
  void forget_silent();
  std::string reason_to_forget(const Neighbour& neighbour, const Heard& heard, Instant now) const;
  void send_hellos(bool leaving);
  void send_hello(const PortFacts& port, bool leaving);
  void send_full_size(const PortFacts& port, const PortHello& hello);
  void hello_soon(PortId port);
  void send(PortId port, const routing::PortAddress* to, ControlKind kind, std::span<const std::byte> body);
  // The datagram numbered counter_.
  std::vector<std::byte> datagram(PortId port, ControlKind kind, std::span<const std::byte> body) const;
  void report_crowd(const PortFacts& port, const LifeKey& key, const PortHello& hello, bool is_of_node);
  // `other`: the field that names the other end; the field "port" is put before it.
  void set_problem(EventCode code, const PortFacts& port, std::uint64_t about, std::string text, EventField other);
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
  PortSegments segments_;
  bool segments_changed_ = false;
  std::map<PortId, std::string> plugs_;  // of ports_
  std::map<NeighbourKey, Neighbour> public_;
  std::map<NeighbourKey, Heard> heard_;
  LifeChallenges challenges_;
  CableLatencies latencies_;
  FullSizeHellos full_size_;
  Problems problems_;
  std::map<PortId, RecentNames> crowded_out_;  // by port: nodes with ports that are ignored on its segment
  std::set<PortId> hello_soon_;
  std::uint64_t counter_ = 0;
  std::array<std::byte, 2 * sizeof(std::uint64_t)> own_key_{};  // random
  // The last hellos sent, at their counters' places: counter and MAC.
  std::array<std::pair<std::uint64_t, Mac>, 1024> own_hellos_{};
  Counters counters_;
  std::unique_ptr<Timer> tick_;
  Instant tick_due_;
  std::unique_ptr<Timer> soon_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_NEIGHBOURS_H_
