#include "tools/cableway/drain/drain_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::AffectedPair;
using routing::DrainEffect;
using routing::Topology;

std::string pair_text(const Topology& topology, const AffectedPair& pair) {
  return absl::StrCat(topology.node(pair.a).name, " and ", topology.node(pair.b).name);
}

Json pair_json(const Topology& topology, const AffectedPair& pair) {
  return Json::array({topology.node(pair.a).name, topology.node(pair.b).name});
}

std::string pairs_text(std::size_t pairs) {
  return absl::StrCat(pairs, pairs == 1 ? " pair of nodes" : " pairs of nodes");
}

Topology with_target(const Topology& topology, const DrainTarget& target, bool drains) {
  if (target.is_cable()) return routing::with_cable_draining(topology, target.cable, drains);
  return routing::with_node_draining(topology, *topology.find_node(target.node), drains);
}

std::string longer_text(const Topology& topology, const DrainEffect& effect) {
  if (effect.longer.empty()) return "  longer      no path\n";
  const routing::LongerPath& longest = effect.longer.front();
  return absl::StrCat("  longer      paths of ", pairs_text(effect.longer.size()),
                      "; the most: ", pair_text(topology, longest.pair), ", ", longest.cables_after,
                      " cables instead of ", longest.cables_before, "\n");
}

std::string loss_text(const Topology& topology, const DrainEffect& effect) {
  if (topology.node_count() > routing::kMaxNodesForFlow) {
    return absl::StrCat("  bandwidth   not computed for more than ", routing::kMaxNodesForFlow, " nodes\n");
  }
  if (!effect.largest_loss.has_value()) return "  bandwidth   none is lost between any two nodes\n";
  const routing::LostBandwidth& loss = *effect.largest_loss;
  return absl::StrCat("  bandwidth   at most between ", pair_text(topology, loss.pair), ": ",
                      rate_text(loss.after_mbps), " instead of ", rate_text(loss.before_mbps), "\n");
}

std::string circuits_text(const DrainTarget& target, const std::optional<CrossingCircuits>& crossing) {
  if (crossing.has_value()) {
    return absl::StrCat(describe(*crossing), crossing->circuits == 1 ? " leads" : " lead", " there now");
  }
  const std::string where = target.is_cable() ? absl::StrCat(target.node, " or ", target.neighbour) : target.node;
  return absl::StrCat("not known here: run this on ", where);
}

}  // namespace

DrainEffect effect_of(const Topology& topology, const DrainTarget& target) {
  return routing::drain_effect(with_target(topology, target, false), with_target(topology, target, true));
}

std::string lost_pairs_text(const Topology& topology, const DrainEffect& effect) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, effect.lost.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", pair_text(topology, effect.lost[i]));
  }
  if (effect.lost.size() > kShown) absl::StrAppend(&text, ", and ", effect.lost.size() - kShown, " more pairs");
  return text;
}

std::string drain_effect_text(const Topology& topology, const DrainTarget& target, const DrainEffect& effect,
                              const std::optional<CrossingCircuits>& crossing) {
  const std::string lost = effect.lost.empty() ? "no pair of nodes loses its last path"
                                               : absl::StrCat(pairs_text(effect.lost.size()),
                                                              " without a path: ", lost_pairs_text(topology, effect));
  return absl::StrCat("  lost        ", lost, "\n", longer_text(topology, effect), loss_text(topology, effect),
                      "  circuits    ", circuits_text(target, crossing), "\n");
}

Json drain_effect_json(const Topology& topology, const DrainEffect& effect,
                       const std::optional<CrossingCircuits>& crossing) {
  constexpr std::size_t kMaxPairs = 1000;
  Json lost = Json::array();
  for (std::size_t i = 0; i < std::min(kMaxPairs, effect.lost.size()); ++i) {
    lost.push_back(pair_json(topology, effect.lost[i]));
  }
  Json longest;
  if (!effect.longer.empty()) {
    const routing::LongerPath& most = effect.longer.front();
    longest = {{"nodes", pair_json(topology, most.pair)},
               {"cables_before", most.cables_before},
               {"cables_after", most.cables_after}};
  }
  Json loss;
  if (effect.largest_loss.has_value()) {
    loss = {{"nodes", pair_json(topology, effect.largest_loss->pair)},
            {"before_mbps", effect.largest_loss->before_mbps},
            {"after_mbps", effect.largest_loss->after_mbps}};
  }
  return {{"lost", lost},
          {"lost_pairs", effect.lost.size()},
          {"longer_pairs", effect.longer.size()},
          {"longest", longest},
          {"largest_loss", loss},
          {"circuits", crossing.has_value() ? Json(crossing->circuits) : Json(nullptr)},
          {"not_listed", crossing.has_value() ? Json(crossing->not_listed) : Json(nullptr)}};
}

}  // namespace cableway::cli
