// The newest advertisement of every node: what flooding keeps equal on all nodes (the idea: J. M. McQuillan et al.,
// "The New Routing Algorithm for the ARPANET", 1980; the ordering and ageing as in OSPF, RFC 2328 sections 12 to 14).
//
// An entry ages on every node that holds it and while it is forwarded; every node removes it if its origin does not
// renew it in time. Ageing only cleans up: when a node dies, its neighbours withdraw their half of every adjacency long
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
    kNewer,  // stored: newer than the entry held, or the first of its origin. Of two with one version, which an
             // origin never makes, the greater is newer, so that all nodes hold the same and the origin learns of it
    kDuplicate,  // already held
    kStale,      // older than the entry held
    kTooOld,     // at its maximum age
    kFull,       // the first of its origin, and kMaxWeight leaves no space for it
  };

  struct Entry {
    std::shared_ptr<const Advertisement> advertisement;  // never empty
    Milliseconds born;        // by the caller's clock: when it was stored, less its age at that time
    Milliseconds held_since;  // since when there has been one of this origin
  };

  // `pool`: shares copies between databases; null: this database holds its own.
  explicit LinkStateDatabase(std::shared_ptr<AdvertisementPool> pool = nullptr) : pool_(std::move(pool)) {}

  // `age`: time since the origin created it, as reported by the neighbour that forwarded it.
  Verdict offer(Advertisement advertisement, Milliseconds age, Milliseconds now);

  // Removes an entry, if there is one.
  void drop(NodeId origin);
  // Removes entries that have reached kMaxAge, except that of `keep`, the caller's own. Returns the removed origins.
  std::vector<NodeId> expire(Milliseconds now, NodeId keep);
  // The earliest time at which expire() may remove an entry; nullopt while the database is empty.
  std::optional<Milliseconds> next_expiry() const;

  const Advertisement* find(NodeId origin) const;
  Milliseconds age(NodeId origin, Milliseconds now) const;
  const std::map<NodeId, Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  // Of all entries (advertisement_weight.h). New versions of entries may take it beyond kMaxWeight.
  std::size_t weight() const { return weight_; }

  // Compares the advertisements held, not their ages.
  friend bool operator==(const LinkStateDatabase& left, const LinkStateDatabase& right);

 private:
  Entry entry_of(Advertisement&& advertisement, Milliseconds born, Milliseconds held_since) const;

  std::shared_ptr<AdvertisementPool> pool_;
  std::map<NodeId, Entry> entries_;
  std::size_t weight_ = 0;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_LINK_STATE_DATABASE_H_
