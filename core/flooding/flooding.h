// Keeps the link-state database equal on all nodes that reach each other: forwards each new advertisement to every
// other neighbour, and sends the whole database over a new adjacency. Originates this node's advertisement, renews it,
// and supersedes any advertisement with this node's name and a later version that this node did not make: it comes from
// an earlier incarnation, from a node of the same name, or is forged. Only this node's own version increases; its
// adjacencies stay.
//
// If an advertisement changes before it is sent to a neighbour, only its newest version is sent: an adjacency stores
// one mark per origin. One thread: the node's.
#ifndef CABLEWAY_CORE_FLOODING_FLOODING_H_
#define CABLEWAY_CORE_FLOODING_FLOODING_H_

#include <chrono>
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
#include "core/flooding/admission.h"
#include "core/flooding/segment_allowance.h"
#include "core/flooding/told_ports.h"
#include "core/wall_clock.h"
#include "routing/link_state/link_state_database.h"

namespace cableway {

class Flooding final : private Admission::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void send_segment(const NeighbourKey& key, std::span<const std::byte> body) = 0;
    // An advertisement was added, changed or removed; not called when one is renewed.
    virtual void database_changed() = 0;
    // `from` has sent an advertisement with this node's name and this version, which this node has not made since it
    // was started: it supersedes that one.
    virtual void defended(const NeighbourKey& from, const routing::AdvertisementVersion& version) = 0;
    // `from` has sent an advertisement whose boot nonce no clock can have made. It was refused.
    virtual void disbelieved(const NeighbourKey& from, const routing::Advertisement& advertisement) = 0;
    // As Admission::Listener::crowded().
    virtual void crowded(const Crowd& crowd) = 0;
    // A neighbour has announced its TCP ports; at most every kTellPortsEvery of each adjacency.
    virtual void ports_told() {}
  };

  struct Counters {
    std::uint64_t received = 0;   // advertisements
    std::uint64_t duplicate = 0;  // of them, already stored
    std::uint64_t stale = 0;
    std::uint64_t refused = 0;  // malformed, not believed, or one too many
    std::uint64_t originated = 0;
    std::uint64_t retransmitted = 0;  // segments
  };

  // A boot nonce is accepted if it is at most this far ahead of this host's clock. A clock that was never set counts as
  // 2026-01-01 at the host's start.
  static constexpr std::chrono::years kAhead{20};

  // All references must outlive this. `pool` as in LinkStateDatabase.
  Flooding(NodeIdentity identity, Clock& clock, WallClock wall_clock, Listener& listener,
           std::shared_ptr<routing::AdvertisementPool> pool = nullptr);
  ~Flooding() override;

  void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour);
  // `cable`: the name of the cable that it was, by which ToldPorts::ended() finds it.
  void adjacency_down(const NeighbourKey& key, const std::string& cable);
  void segment(const NeighbourKey& key, std::span<const std::byte> body);

  // Sets this node's advertisement; origin and version are filled in here. If it differs from the last one, it is
  // flooded after a short delay that batches changes.
  void originate(routing::Advertisement content);

  // Tells the direct neighbours at which TCP ports this node accepts circuits, each at most every kTellPortsEvery.
  void tell_ports(AnnouncedPorts ports);
  // What the neighbours have told.
  const ToldPorts& told_ports() const { return told_; }

  const routing::LinkStateDatabase& database() const { return database_; }
  routing::Milliseconds now_ms() const;
  // Every neighbour has acknowledged all that was sent to it, and nothing is pending.
  bool settled() const;
  Counters counters() const;
  // Advertisements that the database has no space for; empty: there are none.
  const std::optional<Crowd>& crowd() const { return admission_.crowd(); }

 private:
  class Adjacency;

  void receive(Adjacency& from, const LinkMessage& message);
  void take_ports(const Adjacency& from, std::span<const std::byte> list);
  void receive_own(Adjacency& from, const routing::Advertisement& advertisement);
  void defend(Adjacency& from, const routing::AdvertisementVersion& version);
  // Also with a clock that is earlier than this node's by `margin`.
  bool is_believable(const routing::AdvertisementVersion& version, Duration margin) const;
  void spread(routing::NodeId origin, const Adjacency* except);
  void admitted(routing::NodeId origin) override;
  void origins_dropped(const std::vector<routing::NodeId>& origins) override;
  void crowded(const Crowd& crowd) override { listener_.crowded(crowd); }
  void originate_soon();
  void originate_now();
  void arm_expiry();

  NodeIdentity identity_;
  routing::NodeId id_;
  Clock& clock_;
  WallClock wall_clock_;
  Listener& listener_;
  routing::LinkStateDatabase database_;
  Admission admission_;
  std::map<PortId, SegmentAllowance> allowances_;  // of what arrives there; before what refers to them
  std::map<NeighbourKey, std::unique_ptr<Adjacency>> adjacencies_;
  std::optional<routing::Advertisement> content_;
  AnnouncedPorts own_ports_;
  ToldPorts told_;
  routing::AdvertisementVersion version_;  // of the last own advertisement
  std::optional<Instant> originated_at_;
  std::optional<Instant> defended_at_;
  unsigned defences_ = 0;  // one soon after the other
  Counters counters_;      // retransmitted: of adjacencies that have ended
  std::unique_ptr<Timer> originate_;
  std::unique_ptr<Timer> renew_;
  std::unique_ptr<Timer> expiry_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_FLOODING_H_
