// Advertisements of origins that a crowded database does not hold, until it is known whether they hang on a node that
// it holds. Bounded, so that one neighbour's crowd cannot push out what others sent: where there is no space, the port
// with the most loses its oldest (longest queue drop: B. Suter et al., "Design Considerations for Supporting TCP with
// Per-Flow Queueing", INFOCOM 1998). One thread: the node's.
#ifndef CABLEWAY_CORE_FLOODING_WAITING_ROOM_H_
#define CABLEWAY_CORE_FLOODING_WAITING_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ports/port_inventory.h"
#include "routing/link_state/link_state_database.h"

namespace cableway {

struct WaitingAdvertisement {
  routing::Advertisement advertisement;
  routing::Milliseconds born;   // as in LinkStateDatabase::Entry
  routing::Milliseconds since;  // in the room
  PortId port = 0;              // of this node, over which it came
};

class WaitingRoom {
 public:
  static constexpr std::size_t kSpace = 16'384;  // total weight_of()
  static constexpr routing::Milliseconds kLongest{2000};

  // Keeps the newest version of each origin, with the time at which the first one came.
  void put(WaitingAdvertisement arrived);
  std::optional<WaitingAdvertisement> take(routing::NodeId origin);
  // Drops those that have waited for kLongest.
  void expire(routing::Milliseconds now);

  // In the order in which they came.
  std::vector<const WaitingAdvertisement*> all() const;
  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  std::size_t weight() const { return weight_; }
  bool holds(routing::NodeId origin) const { return places_.contains(origin); }
  // How many have expired or had no space, by port.
  const std::map<PortId, std::uint64_t>& turned_away() const { return turned_away_; }
  void forget_turned_away() { turned_away_.clear(); }

 private:
  using Arrival = std::pair<PortId, std::uint64_t>;

  void drop_one();
  WaitingAdvertisement remove(const Arrival& arrival);

  std::map<Arrival, WaitingAdvertisement> waiting_;
  std::map<routing::NodeId, Arrival> places_;
  std::map<PortId, std::size_t> weights_;
  std::map<PortId, std::uint64_t> turned_away_;
  std::size_t weight_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_WAITING_ROOM_H_
