// Chooses the path of a flow's next circuit.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/flow_circuits/circuit_preference.h"
#include "core/flow_circuits/path_share.h"
#include "core/flow_circuits/source_circuits.h"

namespace cableway {
namespace {

// `path` alternates between cables and nodes, as elements_of_path() returns it.
bool has_relays_of(const std::vector<std::string>& path, const std::vector<std::string>& other) {
  if (path.size() != other.size()) return false;
  for (std::size_t i = 1; i < path.size(); i += 2) {
    if (path[i] != other[i]) return false;
  }
  return true;
}

// The maximum number of equal paths, over which a node spreads flows, that are tried to find the wanted one.
constexpr std::size_t kMostTurns = 16;

}  // namespace

std::optional<std::size_t> SourceCircuits::choose(const PathOffers& offers) const {
  std::optional<std::size_t> best;
  std::tuple<int, Instant, std::size_t, std::pair<Instant, Instant>> best_score;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const Elements path = elements_of_path(offers[rank].hops);
    if ((!opened_ && opening_.has_tried(path)) || is_live(path)) continue;
    const auto order = suspects_.order(path);
    const Instant failed = order.second;
    // Paths that have failed since the flow lost its last circuit come after paths that lose packets, in the order of
    // their failures.
    const bool is_spent = failed > Instant{} && without_since_.has_value() && failed >= *without_since_;
    const std::tuple score{is_spent ? 2 : int{offers[rank].last_resort}, is_spent ? failed : Instant{},
                           shared_with_live(path), order};
    if (best.has_value() && score >= best_score) continue;
    best = rank;
    best_score = score;
  }
  return best;
}

bool SourceCircuits::may_work_besides(const PathOffers& offers, std::size_t chosen) const {
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (rank != chosen && opening_.may_work(elements_of_path(offers[rank].hops))) return true;
  }
  return false;
}

bool SourceCircuits::has_standby(const Live* left_out) const {
  const auto is_left = [&](const Live& each) { return &each != left_out && stays(each); };
  const auto one = std::find_if(live_.begin(), live_.end(), is_left);
  if (static_cast<std::size_t>(std::count_if(one, live_.end(), is_left)) < wanted_) return false;
  return std::any_of(one, live_.end(),
                     [&](const Live& each) { return is_left(each) && !has_relays_of(each.path, one->path); });
}

bool SourceCircuits::has_place(std::size_t kept) const {
  const auto is_member = [&](const Live& each) { return stays(each) && each.offer == offer_; };
  return static_cast<std::size_t>(std::count_if(live_.begin(), live_.end(), is_member)) + kept < kMaxBundle;
}

bool SourceCircuits::has_live_relays(const Elements& path) const {
  return std::any_of(live_.begin(), live_.end(),
                     [&](const Live& each) { return !each.path.empty() && has_relays_of(each.path, path); });
}

// The rank of a path of the newest offer. A further circuit ranks below the one that carries the flow, unless it is
// on the first path: otherwise the destination would make it the primary.
std::uint8_t SourceCircuits::rank_for(std::size_t place) const {
  const Live* const carries = preferred();
  const std::size_t least = place == 0 || carries == nullptr ? 0 : carries->rank + std::size_t{1};
  return static_cast<std::uint8_t>(std::min<std::size_t>(std::max(place, least), 255));
}

// The circuit that the destination chooses as the primary, without the condition that it has lived for kProven.
const SourceCircuits::Live* SourceCircuits::preferred() const {
  const Live* best = nullptr;
  const auto preference = [](const Live& live) { return CircuitPreference{live.offer, live.rank, live.path.size()}; };
  for (const Live& live : live_) {
    if (stays(live) && (best == nullptr || preference(live) < preference(*best))) best = &live;
  }
  return best;
}

std::optional<std::size_t> SourceCircuits::choose_standby(const PathOffers& offers) {
  if (!std::exchange(looks_for_standby_, false) || has_standby() || !has_place()) return std::nullopt;
  std::optional<std::size_t> best;
  std::tuple<bool, bool, std::size_t, std::pair<Instant, Instant>> best_score;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const Elements path = elements_of_path(offers[rank].hops);
    if (is_live(path)) continue;
    const bool is_parallel = has_live_relays(path);
    if (is_parallel && flow_.live() >= wanted_) continue;
    if (is_held_off(path)) {
      looks_for_standby_ = true;
      continue;
    }
    const std::tuple score{offers[rank].last_resort, is_parallel, shared_with_live(path), suspects_.order(path)};
    if (best.has_value() && score >= best_score) continue;
    best = rank;
    best_score = score;
  }
  return best;
}

bool SourceCircuits::is_held_off(const Elements& path) const {
  const Instant failed_at = suspects_.last_failure(path);
  return failed_at > Instant{} && clock().now() - failed_at < further_hold_off_;
}

std::optional<std::size_t> SourceCircuits::choose_parallel(const PathOffers& offers) {
  if (!std::exchange(looks_for_parallels_, false)) return std::nullopt;
  const bool lacks_standby = wanted_ > 1 && !has_standby();
  const bool keeps_place = lacks_standby && std::any_of(offers.begin(), offers.end(), [&](const PathOffer& offer) {
                             return !has_live_relays(elements_of_path(offer.hops));
                           });
  if (!has_place(keeps_place ? 1 : 0)) return std::nullopt;
  // Without a circuit of the bundle on the first path there is nothing to be parallel to.
  const Elements first = elements_of_path(offers.front().hops);
  const auto is_first = [&](const Live& each) { return is_bundled(each) && !each.leaving && each.path == first; };
  if (std::none_of(live_.begin(), live_.end(), is_first)) return std::nullopt;
  for (std::size_t rank = 1; rank < offers.size(); ++rank) {
    const PathOffer& offer = offers[rank];
    const Elements path = elements_of_path(offer.hops);
    const auto leads_there = [&](const Live& each) { return is_bundled(each) && each.path == path; };
    if (share_of(offer) == CircuitShare::kNone) continue;
    if (std::any_of(live_.begin(), live_.end(), leads_there)) continue;
    looks_for_parallels_ = true;  // retried later if none can be tried now
    if (!is_held_off(path)) return rank;
  }
  return std::nullopt;
}

bool SourceCircuits::has_first() const {
  return std::any_of(live_.begin(), live_.end(),
                     [&](const Live& each) { return stays(each) && each.rank == 0 && each.offer == offer_; });
}

CircuitShare SourceCircuits::share_of(const PathOffer& path) const {
  return share_on(path.kind, path.may_stripe, limits_.shares);
}

bool SourceCircuits::bundle_has_left(const PathOffers& offers) const {
  // An alternate that is the only circuit carries the flow as the first path would.
  const bool is_alone = flow_.live() == 1;
  return std::any_of(live_.begin(), live_.end(), [&](const Live& each) {
    if (!is_bundled(each) || each.leaving) return false;
    return std::none_of(offers.begin(), offers.end(), [&](const PathOffer& offer) {
      const CircuitShare share = share_of(offer);
      const bool has_part = is_alone ? share != CircuitShare::kNone : share == each.share;
      return has_part && elements_of_path(offer.hops) == each.path;
    });
  });
}

const SourceCircuits::Live* SourceCircuits::find_live(const Elements& path) const {
  const auto live = std::find_if(live_.begin(), live_.end(), [&](const Live& each) { return each.path == path; });
  return live == live_.end() ? nullptr : &*live;
}

bool SourceCircuits::is_live(const Elements& path) const {
  return find_live(path) != nullptr;
}

std::size_t SourceCircuits::shared_with_live(const Elements& path) const {
  std::size_t shared = 0;
  for (const Live& live : live_) {
    for (const std::string& element : path) shared += std::count(live.path.begin(), live.path.end(), element);
  }
  return shared;
}

void SourceCircuits::loads(const CircuitLoads& loads) {
  // One change at a time.
  if (over_ || !striped_ || move_.has_value() || finding_ || dial_ != nullptr || end_worse_ != nullptr) return;
  const Live* const carries = preferred();
  const Live* const other = least_loaded_equal(loads);
  const Instant now = clock().now();
  if (carries == nullptr || other == nullptr || !loads[carries->name.slot].has_value()) return balance_.no_other();
  CircuitLoad present = *loads[carries->name.slot];
  // A move takes all circuits of the bundle along, so their loads count as well.
  for (const Live& live : live_) {
    const bool moves =
        &live != carries && stays(live) && carries_with(live, *carries) && live.share == CircuitShare::kBundle;
    if (moves && loads[live.name.slot].has_value()) present.own += loads[live.name.slot]->own;
  }
  if (balance_.should_move(present, loads[other->name.slot]->busiest, now)) {
    balance_.moved(now);
    move_to(other->path);
  }
}

const SourceCircuits::Live* SourceCircuits::least_loaded_equal(const CircuitLoads& loads) const {
  const Live* least = nullptr;
  for (const Live& live : live_) {
    const bool stands_by = stays(live) && is_bundled(live) && live.share == CircuitShare::kAlternate;
    if (!stands_by || !live.equals_first || !loads[live.name.slot].has_value()) continue;
    if (clock().now() - live.joined_at < kProven) continue;
    if (least == nullptr || loads[live.name.slot]->busiest < loads[least->name.slot]->busiest) least = &live;
  }
  return least;
}

void SourceCircuits::move_to(const Elements& path) {
  move_ = Move{path, turn_, kMostTurns};
  ++turn_;
  look_for_better();
}

void SourceCircuits::give_up_move() {
  if (!move_.has_value()) return;
  turn_ = move_->turn_before;
  move_.reset();
}

}  // namespace cableway
