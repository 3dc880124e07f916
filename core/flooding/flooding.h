// Keeps the link-state database equal on all nodes that reach each other: what is new here goes to every neighbour,
// what is new there comes here, and each adjacency begins with both sides telling everything. Makes this node's own
// advertisement, renews it, and outlives copies of earlier ones.
//
// An advertisement that changes while a neighbour is behind is sent to it once, in its newest form: a link's memory is
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
#include "routing/link_state/link_state_database.h"

namespace cableway {

class Flooding {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void send_segment(const NeighbourKey& key, std::span<const std::byte> body) = 0;
    // An advertisement came, changed or went; not called when one was merely renewed.
    virtual void database_changed() = 0;
    // The cluster holds an advertisement of this node from an incarnation with a greater nonce: a clock went back, or
    // another node has this one's name. What the node does about it is to begin an incarnation with a greater one.
    virtual void outlived(std::uint64_t boot_nonce) = 0;
  };

  struct Counters {
    std::uint64_t received = 0;   // advertisements
    std::uint64_t duplicate = 0;  // of them, known already
    std::uint64_t stale = 0;
    std::uint64_t refused = 0;  // malformed, or one too many
    std::uint64_t originated = 0;
    std::uint64_t retransmitted = 0;  // segments, for want of an acknowledgement
  };

  // Everything named outlives this. `pool` as in LinkStateDatabase.
  Flooding(NodeIdentity identity, Clock& clock, Listener& listener,
           std::shared_ptr<routing::AdvertisementPool> pool = nullptr);
  ~Flooding();

  void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour);
  void adjacency_down(const NeighbourKey& key);
  void segment(const NeighbourKey& key, std::span<const std::byte> body);

  // What this node says of itself; origin and version are filled in here. It is flooded if it differs from what it said
  // before, after a moment in which more may change.
  void originate(routing::Advertisement content);
  // A new incarnation: everything is said again under this nonce.
  void restart(std::uint64_t boot_nonce);

  const routing::LinkStateDatabase& database() const { return database_; }
  routing::Milliseconds now_ms() const;
  // No neighbour is behind, as far as it is known here.
  bool settled() const;
  Counters counters() const;

 private:
  class Adjacency;

  void receive(Adjacency& from, const LinkMessage& message);
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
  std::uint64_t sequence_ = 0;
  std::optional<Instant> originated_at_;
  Counters counters_;  // but for what adjacencies that are up have retransmitted
  std::unique_ptr<Timer> originate_;
  std::unique_ptr<Timer> renew_;
  std::unique_ptr<Timer> expiry_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_FLOODING_H_
