#include "core/flooding/waiting_room.h"

#include <algorithm>

#include "routing/link_state/advertisement_weight.h"

namespace cableway {

void WaitingRoom::put(WaitingAdvertisement arrived) {
  const routing::NodeId origin = arrived.advertisement.origin;
  if (const auto place = places_.find(origin); place != places_.end()) {
    if (arrived.advertisement.version <= waiting_.at(place->second).advertisement.version) return;
    arrived.since = remove(place->second).since;
  }
  const Arrival arrival{arrived.port, ++arrivals_};
  const std::size_t weight = routing::weight_of(arrived.advertisement);
  weights_[arrived.port] += weight;
  weight_ += weight;
  places_[origin] = arrival;
  waiting_.emplace(arrival, std::move(arrived));
  while (weight_ > kSpace) drop_one();
}

std::optional<WaitingAdvertisement> WaitingRoom::take(routing::NodeId origin) {
  const auto place = places_.find(origin);
  if (place == places_.end()) return std::nullopt;
  return remove(place->second);
}

void WaitingRoom::expire(routing::Milliseconds now) {
  std::vector<Arrival> expired;
  for (const auto& [arrival, waiting] : waiting_) {
    if (now - waiting.since >= kLongest) expired.push_back(arrival);
  }
  for (const Arrival& arrival : expired) {
    ++turned_away_[arrival.first];
    remove(arrival);
  }
}

std::vector<const WaitingAdvertisement*> WaitingRoom::all() const {
  std::vector<std::pair<std::uint64_t, const WaitingAdvertisement*>> arrivals;
  arrivals.reserve(waiting_.size());
  for (const auto& [arrival, waiting] : waiting_) arrivals.emplace_back(arrival.second, &waiting);
  std::sort(arrivals.begin(), arrivals.end());
  std::vector<const WaitingAdvertisement*> all;
  all.reserve(arrivals.size());
  for (const auto& [number, waiting] : arrivals) all.push_back(waiting);
  return all;
}

void WaitingRoom::drop_one() {
  const auto most = std::max_element(weights_.begin(), weights_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  ++turned_away_[most->first];
  remove(waiting_.lower_bound(Arrival{most->first, 0})->first);
}

WaitingAdvertisement WaitingRoom::remove(const Arrival& arrival) {
  auto node = waiting_.extract(arrival);
  const std::size_t weight = routing::weight_of(node.mapped().advertisement);
  weight_ -= weight;
  const auto of_port = weights_.find(node.key().first);
  of_port->second -= weight;
  if (of_port->second == 0) weights_.erase(of_port);
  places_.erase(node.mapped().advertisement.origin);
  return std::move(node.mapped());
}

}  // namespace cableway
