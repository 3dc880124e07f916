#include "routing/offers/bundle_paths.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

namespace cableway::routing {
namespace {

class Bundle {
 public:
  Bundle(const Topology& topology, const PhysicalCables& physical, const CableParts* parts, const Path& first)
      : topology_(topology), physical_(physical), parts_(parts), paths_{first} {}

  bool add_one() {
    Path path{{}, paths_.front().nodes};
    for (std::size_t hop = 0; hop < paths_.front().hops(); ++hop) {
      const std::optional<CableIndex> cable = best_cable(hop);
      if (!cable) return false;
      path.cables.push_back(*cable);
    }
    paths_.push_back(std::move(path));
    return true;
  }

  std::vector<Path> without_first() && {
    paths_.erase(paths_.begin());
    return std::move(paths_);
  }

 private:
  struct Rank {
    std::uint64_t latency_ns = 0;
    std::uint64_t shared = 0;
    std::uint64_t shared_with_last = 0;
    std::size_t after_first = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  std::optional<CableIndex> best_cable(std::size_t hop) const {
    const std::vector<NodeIndex>& nodes = paths_.front().nodes;
    const std::span<const Adjacency> steps = topology_.cables_between(nodes[hop], nodes[hop + 1]);
    const auto has_first = [&](const Adjacency& step) { return step.cable == paths_.front().cables[hop]; };
    const auto first = static_cast<std::size_t>(std::find_if(steps.begin(), steps.end(), has_first) - steps.begin());
    std::optional<CableIndex> best;
    Rank best_rank;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const CableIndex cable = steps[i].cable;
      if (hop == 0 && !is_other_port(cable, nodes.front(), hop)) continue;
      if (hop + 2 == nodes.size() && !is_other_port(cable, nodes.back(), hop)) continue;
      Rank rank{topology_.latency_cost_ns(cable), 0, 0, (i + steps.size() - first) % steps.size()};
      for (const Path& path : paths_) {
        rank.shared_with_last = shared_weight(cable, path.cables[hop], nodes[hop] < nodes[hop + 1]);
        rank.shared += rank.shared_with_last;
      }
      if (best && rank >= best_rank) continue;
      best = cable;
      best_rank = rank;
    }
    return best;
  }

  // Whether the cable ends at a port of `node`, an end of the paths, that none of the paths uses, and that may carry
  // more beside theirs.
  bool is_other_port(CableIndex cable, NodeIndex node, std::size_t hop) const {
    return std::none_of(paths_.begin(), paths_.end(), [&](const Path& path) {
      const CableIndex used = path.cables[hop];
      return cable == used || have_one_port(cable, used, node) || fills_what_they_share(used, cable, node);
    });
  }

  bool have_one_port(CableIndex left, CableIndex right, NodeIndex node) const {
    const Port& port = topology_.port_at(left, node);
    return !port.interface.empty() && port.interface == topology_.port_at(right, node).interface;
  }

  // Whether `used` alone fills the wire or plug that it shares with `cable` at `node`.
  bool fills_what_they_share(CableIndex used, CableIndex cable, NodeIndex node) const {
    const std::uint64_t rate = topology_.cable(used).rate_mbps;
    const std::size_t place = physical_.place_of_cable[used.value];
    const PhysicalCable& wire = physical_.cables[place];
    if (place == physical_.place_of_cable[cable.value]) return rate >= wire.rate_mbps;
    const PhysicalCable& other = physical_.cables[physical_.place_of_cable[cable.value]];
    const auto at_node = [&](const PhysicalCable& each) {
      return each.a == node ? each.shared_at_a : each.shared_at_b;
    };
    return at_node(wire) && at_node(wire) == at_node(other) && rate >= physical_.connectors[*at_node(wire)].rate_mbps;
  }

  std::uint64_t shared_weight(CableIndex left, CableIndex right, bool from_a) const {
    if (parts_ == nullptr) return left == right ? kWholePart : 0;
    const std::span<const PartUse> others = parts_->of(right, from_a);
    std::uint64_t weight = 0;
    for (const PartUse& use : parts_->of(left, from_a)) {
      weight += std::find(others.begin(), others.end(), use) != others.end() ? use.weight : 0;
    }
    return weight;
  }

  const Topology& topology_;
  const PhysicalCables& physical_;
  const CableParts* const parts_;
  std::vector<Path> paths_;
};

}  // namespace

std::vector<Path> bundle_paths(const Topology& topology, const PhysicalCables& physical, const CableParts* parts,
                               const Path& first, std::size_t most) {
  if (first.hops() == 0) return {};
  Bundle bundle(topology, physical, parts, first);
  while (most > 0 && bundle.add_one()) --most;
  return std::move(bundle).without_first();
}

}  // namespace cableway::routing
