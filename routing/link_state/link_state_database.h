// The newest advertisement of every node: what flooding keeps equal on all nodes (the idea: J. M. McQuillan et al.,
// "The New Routing Algorithm for the ARPANET", 1980; the ordering and ageing as in OSPF, RFC 2328 sections 12 to 14).
//
// An entry ages on every node that holds it, and along the way between them, and is gone everywhere when its origin has
// not renewed it in time. Ages only clean up: a node that is dead has lost its neighbours' half of every adjacency long
// before (agreed_topology.h).
#ifndef CABLEWAY_ROUTING_LINK_STATE_LINK_STATE_DATABASE_H_
#define CABLEWAY_ROUTING_LINK_STATE_LINK_STATE_DATABASE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "routing/link_state/advertisement.h"
#include "routing/link_state/advertisement_pool.h"

namespace cableway::routing {

// Milliseconds of the caller's clock.
using Milliseconds = std::chrono::milliseconds;

inline constexpr Milliseconds kRenewAfter{60'000};
inline constexpr Milliseconds kMaxAge{300'000};

class LinkStateDatabase {
 public:
  enum class Verdict {
    kNewer,      // kept: it replaces what was held, or is the first of its origin
    kDuplicate,  // held already
    kStale,      // older than what is held
    kTooOld,     // at its maximum age
    kFull,       // kMaxNodes origins are held
  };

  struct Entry {
    std::shared_ptr<const Advertisement> advertisement;  // never empty
    Milliseconds born;  // by the caller's clock: when it was kept, less the age that it had then
  };

  // `pool`: keeps what is offered, so that several databases hold one copy; empty: this one has copies of its own.
  explicit LinkStateDatabase(std::shared_ptr<AdvertisementPool> pool = nullptr) : pool_(std::move(pool)) {}

  // `age`: since its origin made it, as told by whoever passed it on.
  Verdict offer(Advertisement advertisement, Milliseconds age, Milliseconds now);

  // Removes what has reached kMaxAge, except `keep`, whose own node renews it. The origins removed.
  std::vector<NodeId> expire(Milliseconds now, NodeId keep);
  // When the next expire() may find something; nothing while the database is empty.
  std::optional<Milliseconds> next_expiry() const;

  const Advertisement* find(NodeId origin) const;
  Milliseconds age(NodeId origin, Milliseconds now) const;
  const std::map<NodeId, Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }

  // Whether both hold the same advertisements, whatever their ages.
  friend bool operator==(const LinkStateDatabase& left, const LinkStateDatabase& right);

 private:
  Entry entry_of(Advertisement&& advertisement, Milliseconds born) const;

  std::shared_ptr<AdvertisementPool> pool_;
  std::map<NodeId, Entry> entries_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_LINK_STATE_DATABASE_H_
