// Keeps the link-state database equal on all nodes that reach each other: forwards each new advertisement to every
// other neighbour, and sends the whole database over a new adjacency. Originates this node's advertisement, renews it,
// and supersedes copies from earlier incarnations.
//
// If an advertisement changes before it is sent to a neighbour, only its newest version is sent: an adjacency stores
// one mark per origin. One thread: the node's.
#ifndef CABLEWAY_CORE_FLOODING_FLOODING_H_
#define CABLEWAY_CORE_FLOODING_FLOODING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/clock.h"
#include "core/discovery/neighbours.h"
#include "core/flooding/adjacency_link.h"
#include "core/flooding/told_ports.h"
#include "routing/link_state/link_state_database.h"

namespace cableway {

class Flooding {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void send_segment(const NeighbourKey& key, std::span<const std::byte> body) = 0;
    // An advertisement was added, changed or removed; not called when one is renewed.
    virtual void database_changed() = 0;
    // The cluster holds an advertisement of this node from an incarnation with a greater nonce: a clock was set back,
    // or another node has this one's name. The node must start an incarnation with a greater nonce.
    virtual void outlived(std::uint64_t boot_nonce) = 0;
    // A neighbour has told the TCP ports of its processes.
    virtual void ports_told() {}
  };

  struct Counters {
    std::uint64_t received = 0;   // advertisements
    std::uint64_t duplicate = 0;  // of them, already stored
    std::uint64_t stale = 0;
    std::uint64_t refused = 0;  // malformed, or one too many
    std::uint64_t originated = 0;
    std::uint64_t retransmitted = 0;  // segments
  };

  // All references must outlive this. `pool` as in LinkStateDatabase.
  Flooding(NodeIdentity identity, Clock& clock, Listener& listener,
           std::shared_ptr<routing::AdvertisementPool> pool = nullptr);
  ~Flooding();

  void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour);
  void adjacency_down(const NeighbourKey& key);
  void segment(const NeighbourKey& key, std::span<const std::byte> body);

  // Sets this node's advertisement; origin and version are filled in here. If it differs from the last one, it is
  // flooded after a short delay that batches changes.
  void originate(routing::Advertisement content);
  // Starts a new incarnation: floods the advertisement again with this nonce.
  void restart(std::uint64_t boot_nonce);

  // Tells the direct neighbours at once at which TCP ports this node's processes accept circuits; at most
  // kMaxToldPorts.
  void tell_ports(TcpPorts ports);
  // Whether that neighbour has told this TCP port (told_ports.h).
  bool has_told(routing::NodeId neighbour, std::uint16_t port) const {
    return told_.has(neighbour, port, clock_.now());
  }

  const routing::LinkStateDatabase& database() const { return database_; }
  routing::Milliseconds now_ms() const;
  // Every neighbour has acknowledged all that was sent to it, and nothing is pending.
  bool settled() const;
  Counters counters() const;

 private:
  class Adjacency;

  void receive(Adjacency& from, const LinkMessage& message);
  void receive_ports(const Adjacency& from, const LinkMessage& message);
  void receive_own(Adjacency& from, const routing::Advertisement& advertisement);
  void spread(routing::NodeId origin, const Adjacency* except);
  void originate_soon();
  void originate_now();
  void arm_expiry();

  NodeIdentity identity_;
  routing::NodeId id_;
  Clock& clock_;
  Listener& listener_;
  routing::LinkStateDatabase database_;
  std::map<NeighbourKey, std::unique_ptr<Adjacency>> adjacencies_;
  std::optional<routing::Advertisement> content_;
  TcpPorts own_ports_;
  ToldPorts told_;
  std::uint64_t sequence_ = 0;
  std::optional<Instant> originated_at_;
  Counters counters_;  // retransmitted: of adjacencies that have ended
  std::unique_ptr<Timer> originate_;
  std::unique_ptr<Timer> renew_;
  std::unique_ptr<Timer> expiry_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_FLOODING_H_
