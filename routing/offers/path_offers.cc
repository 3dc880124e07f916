#include "routing/offers/path_offers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "routing/offers/avoiding_paths.h"
#include "routing/offers/bundle_paths.h"
#include "routing/offers/points_of_failure.h"
#include "routing/offers/striping_room.h"
#include "routing/paths/disjoint_paths.h"
#include "routing/paths/loop_free_paths.h"
#include "routing/paths/path_cost.h"
#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

struct RankedOffer {
  Path path;
  PathKind kind = PathKind::kAlternate;
  PointSet points;
  PathCost cost;
  bool meets_first = false;  // at an avoidable point
  bool meets_other = false;  // that is before it in the list
  std::size_t shared = 0;    // how many points it has in common with each of those before it, summed up

  std::tuple<bool, bool, PathCost, std::size_t> rank() const { return {meets_first, meets_other, cost, shared}; }
};

using OfferPlace = std::vector<RankedOffer>::iterator;

// More than are offered, since flows spread over equally good ones; enough for the cables of most nodes.
constexpr std::size_t kDisjointPaths = 8;

std::ptrdiff_t place(std::size_t number) {
  return static_cast<std::ptrdiff_t>(number);
}

// The full list, and what is offered of it.
class OfferList {
 public:
  OfferList(const Topology& topology, const RouteTable& routes, NodeIndex destination, std::uint64_t ordinal,
            std::size_t most)
      : topology_(topology),
        routes_(routes),
        destination_(destination),
        ordinal_(ordinal),
        most_(most),
        physical_(physical_cables(topology)),
        points_(topology, physical_) {}

  // Preconditions: `shortest` is routes.paths_from_flow(), and its paths have cables; most >= 2.
  std::vector<OfferedPath> find(std::vector<Path> shortest) {
    add(std::move(shortest.front()), PathKind::kFirst);
    for (Path& path : bundle_paths(topology_, physical_, routes_.parts(), first().path, kMaxPathsPerRoute)) {
      add(std::move(path), PathKind::kBundle);
    }
    const std::size_t alternates = list_.size();
    for (auto path = std::next(shortest.begin()); path != shortest.end(); ++path) add_alternate(std::move(*path));
    add_avoiding();
    rank(list_.begin() + place(alternates));
    cut();
    return offers();
  }

 private:
  const RankedOffer& first() const { return list_.front(); }

  void add(Path path, PathKind kind) {
    PointSet points = points_.of(path);
    const PathCost cost = cost_of(topology_, path);
    list_.push_back({std::move(path), kind, std::move(points), cost});
  }
  void add_alternate(Path path) {
    const auto is_same = [&](const RankedOffer& each) { return each.path == path; };
    if (std::none_of(list_.begin(), list_.end(), is_same)) add(std::move(path), PathKind::kAlternate);
  }

  void add_avoiding() {
    const NodeIndex self = routes_.self();
    const auto avoiding = [&](const PointSet& points) {
      return path_avoiding(topology_, physical_, points_, self, destination_, points);
    };
    Path other = avoiding(first().points);
    if (const PointSet common = common_points(first().points, points_.of(other)); !common.empty()) {
      survivors_ = surviving_paths(topology_, physical_, points_, self, destination_);
      if (survivors_.first == survivors_.second) return;  // the only path
      unavoidable_ = common_points(points_.of(survivors_.first), points_.of(survivors_.second));
      if (!avoidable(common).empty()) other = avoiding(avoidable(first().points));
      add_alternate(survivors_.first);
      add_alternate(survivors_.second);
    }
    add_alternate(over_other_functions(std::move(other)));
    for (DisjointPath& disjoint :
         disjoint_paths(topology_, physical_, self, destination_, std::max(most_, kDisjointPaths))) {
      add_alternate(over_other_functions(std::move(disjoint.path)));
    }
    if (list_.size() >= most_) return;
    for (Path& path : loop_free_paths(topology_, self, destination_, 2 * most_)) add_alternate(std::move(path));
  }

  const PhysicalCable& wire_of(CableIndex cable) const {
    return physical_.cables[physical_.place_of_cable[cable.value]];
  }

  // A cheapest path crosses each split plug by one function, whatever the flow. This spreads flows over all functions:
  // it takes the function after the one by which the first path leaves or, if that one is alone in its plug, the
  // function given by the ordinal. Wires that the first path uses, too, are left as they are.
  Path over_other_functions(Path path) const {
    if (routes_.parts() == nullptr) return path;
    const CableIndex leaves = first().path.cables.front();
    const std::vector<CableIndex>& plug = wire_of(leaves).cables;
    const auto function = static_cast<std::uint64_t>(std::find(plug.begin(), plug.end(), leaves) - plug.begin());
    const std::uint64_t turn = plug.size() > 1 ? function + 1 : ordinal_;
    for (CableIndex& cable : path.cables) {
      const std::uint32_t wire = points_.of_wire(physical_.place_of_cable[cable.value]);
      if (std::binary_search(first().points.begin(), first().points.end(), wire)) continue;
      std::vector<CableIndex> equal;
      for (const CableIndex twin : wire_of(cable).cables) {
        if (topology_.latency_cost_ns(twin) == topology_.latency_cost_ns(cable)) equal.push_back(twin);
      }
      cable = equal[turn % equal.size()];
    }
    return path;
  }

  PointSet avoidable(const PointSet& points) const { return points_without(points, unavoidable_); }

  // Ranks the alternates, which begin at `alternates`.
  void rank(OfferPlace alternates) {
    for (OfferPlace each = alternates; each != list_.end(); ++each) {
      each->meets_first = !avoidable(common_points(first().points, each->points)).empty();
      for (OfferPlace before = list_.begin(); before != alternates; ++before) note_before(*before, *each);
    }
    order_as_flows(alternates);
    // Later places do not matter.
    for (OfferPlace next = alternates; next != list_.end() && next - list_.begin() < place(most_); ++next) {
      const OfferPlace best = std::min_element(
          next, list_.end(),
          [](const RankedOffer& left, const RankedOffer& right) { return left.rank() < right.rank(); });
      std::rotate(next, best, std::next(best));
      for (OfferPlace later = std::next(next); later != list_.end(); ++later) note_before(*next, *later);
    }
  }

  void note_before(const RankedOffer& before, RankedOffer& later) const {
    const PointSet common = common_points(before.points, later.points);
    later.meets_other = later.meets_other || !avoidable(common).empty();
    later.shared += common.size();
  }

  // Orders alternates as flows take them, within each group of equal cost that meets the first path, or does not.
  void order_as_flows(OfferPlace alternates) {
    const auto group_of = [](const RankedOffer& each) { return std::tuple(each.meets_first, each.cost); };
    std::sort(alternates, list_.end(), [&](const RankedOffer& left, const RankedOffer& right) {
      return std::tuple(group_of(left), std::cref(left.path)) < std::tuple(group_of(right), std::cref(right.path));
    });
    for (OfferPlace begin = alternates; begin != list_.end();) {
      const OfferPlace end =
          std::find_if(begin, list_.end(), [&](const RankedOffer& each) { return group_of(each) != group_of(*begin); });
      std::vector<Path> paths;
      std::transform(begin, end, std::back_inserter(paths), [](const RankedOffer& each) { return each.path; });
      for (const Path& path : routes_.in_order_of_flows(std::move(paths), ordinal_)) {
        const OfferPlace found = std::find_if(begin, end, [&](const RankedOffer& each) { return each.path == path; });
        std::rotate(begin, found, std::next(found));
        ++begin;
      }
    }
  }

  // The avoidable points that all candidates before `end` have.
  PointSet common_to(OfferPlace end) const {
    PointSet common = avoidable(first().points);
    for (auto each = list_.begin(); each != end; ++each) common = common_points(common, each->points);
    return common;
  }

  void cut() {
    if (list_.size() <= most_) return;
    const OfferPlace end = list_.begin() + place(most_);
    if (!common_to(end).empty()) take_survivors(std::prev(end));
    list_.erase(list_.begin() + place(most_), list_.end());
  }

  // Moves later candidates to the place `last`, and to the one before it if necessary.
  void take_survivors(OfferPlace last) {
    const PointSet common = common_to(last);
    const auto left = [&](const RankedOffer& each) { return common_points(common, each.points).size(); };
    const OfferPlace best = std::min_element(
        last, list_.end(), [&](const RankedOffer& a, const RankedOffer& b) { return left(a) < left(b); });
    if (left(*best) == 0 || most_ == 2) return std::iter_swap(last, best);
    // Neither survivor is before `last`: otherwise the other survivor would have left nothing in common. Both keep
    // their order.
    const auto survives = [&](const RankedOffer& each) {
      return each.path == survivors_.first || each.path == survivors_.second;
    };
    const OfferPlace one = std::find_if(last, list_.end(), survives);
    const OfferPlace other = std::find_if(std::next(one), list_.end(), survives);
    std::iter_swap(std::prev(last), one);
    std::iter_swap(last, other);
  }

  std::vector<OfferedPath> offers() {
    StripingRoom room(topology_, physical_);
    const PathCost cost = first().cost;
    const std::uint64_t rate = common_rate(first().path);
    std::vector<OfferedPath> offers;
    for (RankedOffer& each : list_) {
      const bool competes = each.kind != PathKind::kAlternate;
      const bool may_stripe =
          room.has_room(each.path) && (competes || !(room.can_be_overfilled(each.path) || room.meets_taken(each.path)));
      if (may_stripe) room.add(each.path, competes);
      const bool equals_first = !competes && each.cost == cost && rate > 0 && common_rate(each.path) == rate;
      offers.push_back({std::move(each.path), each.kind, may_stripe, equals_first});
    }
    return offers;
  }

  // 0: its cables have different rates.
  std::uint64_t common_rate(const Path& path) const {
    std::uint64_t rate = 0;
    for (const CableIndex cable : path.cables) {
      const std::uint64_t its = topology_.cable(cable).rate_mbps;
      if (rate != 0 && its != rate) return 0;
      rate = its;
    }
    return rate;
  }

  const Topology& topology_;
  const RouteTable& routes_;
  const NodeIndex destination_;
  const std::uint64_t ordinal_;
  const std::size_t most_;
  const PhysicalCables physical_;
  const PointsOfFailure points_;
  std::vector<RankedOffer> list_;
  std::pair<Path, Path> survivors_;  // surviving_paths(), if something of the first path cannot be avoided at once
  PointSet unavoidable_;
};

}  // namespace

std::vector<OfferedPath> offered_paths(const Topology& topology, const RouteTable& routes, NodeIndex destination,
                                       std::uint64_t ordinal, std::size_t most) {
  std::vector<Path> shortest = routes.paths_from_flow(destination, ordinal);
  if (shortest.empty() || most == 0) return {};
  if (most == 1 || shortest.front().hops() == 0) return {{std::move(shortest.front()), PathKind::kFirst, true}};
  return OfferList(topology, routes, destination, ordinal, most).find(std::move(shortest));
}

}  // namespace cableway::routing
