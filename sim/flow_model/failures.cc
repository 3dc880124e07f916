#include "sim/flow_model/failures.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

constexpr std::size_t kCasesPerReport = 64;

// Renumbers cables after the removal of `gone`, which is sorted and contains none of them.
std::vector<CableIndex> renumbered(std::vector<CableIndex> cables, std::span<const CableIndex> gone) {
  for (CableIndex& cable : cables) {
    cable.value -= static_cast<std::uint32_t>(std::lower_bound(gone.begin(), gone.end(), cable) - gone.begin());
  }
  return cables;
}

class FailureAnalysis {
 public:
  FailureAnalysis(AllToAllRoutes intact, const FailureSettings& settings)
      : intact_(std::move(intact)), settings_(settings) {
    report_.physical = routing::physical_cables(topology());
    report_.intact = all_to_all_shares(intact_, shares_);
    report_.parts = topology().components().size();
    for (PairIndex pair = 0; pair < intact_.pair_count(); ++pair) intact_rates_.push_back(pair_rate(shares_, pair));
    report_.weak = routing::weak_points(topology(), report_.physical);
  }

  FailureReport run() {
    for (std::uint32_t cable = 0; cable < report_.physical.cables.size(); ++cable) fail_cable(cable);
    for (std::uint32_t node = 0; node < topology().node_count(); ++node) fail_node(NodeIndex{node});
    settings_.progress(done_, done_);
    return std::move(report_);
  }

 private:
  const Topology& topology() const { return intact_.topology(); }
  const std::vector<CableIndex>& cables_of(std::uint32_t physical) const {
    return report_.physical.cables[physical].cables;
  }

  void fail_cable(std::uint32_t first) {
    const AllToAllRoutes rest = intact_.without(cables_of(first));
    report_.cables.push_back(judged({.kind = FailureCase::Kind::kCable, .cable = first, .shares = shares_of(rest)}));
    if (!settings_.two_cables) return;
    for (std::uint32_t second = first + 1; second < report_.physical.cables.size(); ++second) {
      const AllToAllRoutes less = rest.without(renumbered(cables_of(second), cables_of(first)));
      report_.two_cables.push_back(judged(
          {.kind = FailureCase::Kind::kTwoCables, .cable = first, .second_cable = second, .shares = shares_of(less)}));
    }
  }

  void fail_node(NodeIndex node) {
    std::vector<CableIndex> cables;
    for (const routing::Adjacency& adjacency : topology().adjacencies(node)) cables.push_back(adjacency.cable);
    std::sort(cables.begin(), cables.end());
    report_.nodes.push_back(
        judged({.kind = FailureCase::Kind::kNode, .node = node, .shares = shares_of(intact_.without(cables))}));
  }

  // Compares the case with the intact state, pair by pair. Precondition: shares_of() has just computed what is left.
  FailureCase judged(FailureCase failure) const {
    const bool is_node = failure.kind == FailureCase::Kind::kNode;
    double least = std::numeric_limits<double>::infinity();
    failure.shares.pairs_cut = 0;
    PairIndex pair = 0;
    for (std::uint32_t low = 0; low < topology().node_count(); ++low) {
      for (std::uint32_t high = low + 1; high < topology().node_count(); ++high, pair += 2) {
        if (is_node && (low == failure.node.value || high == failure.node.value)) continue;
        for (const PairIndex way : {pair, pair + 1}) {
          const double before = intact_rates_[way];
          if (before == 0) continue;
          if (pair_rate(shares_, way) == 0) {
            ++failure.shares.pairs_cut;
            continue;
          }
          least = std::min(least, before);
          failure.total_rate_before += before;
        }
      }
    }
    failure.least_rate_before = failure.total_rate_before > 0 ? least : 0;
    return failure;
  }

  AllToAllShares shares_of(const AllToAllRoutes& routes) {
    AllToAllShares shares = all_to_all_shares(routes, shares_);
    if (shares.hottest) {
      const std::string& name = routes.topology().cable(shares.hottest->cable).name;
      shares.hottest->cable = *topology().find_cable(name);
    }
    ++done_;
    if (done_ % kCasesPerReport == 0) {
      settings_.progress(
          done_, failure_case_count(topology().node_count(), report_.physical.cables.size(), settings_.two_cables));
    }
    return shares;
  }

  const AllToAllRoutes intact_;
  const FailureSettings& settings_;
  MaxMinShares shares_;
  std::vector<double> intact_rates_;  // by pair; 0 if there is no path
  FailureReport report_;
  std::size_t done_ = 0;
};

std::string cable_text(const Topology& topology, const routing::PhysicalCable& physical,
                       const routing::ShortCableNames* names) {
  const std::string cables = absl::StrJoin(physical.cables, "=", [&](std::string* text, CableIndex cable) {
    absl::StrAppend(text, names == nullptr ? topology.cable(cable).name : names->of(cable));
  });
  const std::string nodes = absl::StrCat(topology.node(physical.a).name, "-", topology.node(physical.b).name);
  return cables == nodes ? cables : absl::StrCat(cables, " (", nodes, ")");
}

}  // namespace

std::size_t failure_case_count(std::size_t nodes, std::size_t physical_cables, bool two_cables) {
  const std::size_t pairs = physical_cables > 0 ? physical_cables * (physical_cables - 1) / 2 : 0;
  return nodes + physical_cables + (two_cables ? pairs : 0);
}

absl::StatusOr<FailureReport> analyse_failures(const Topology& topology, const FailureSettings& settings) {
  absl::StatusOr<AllToAllRoutes> intact = AllToAllRoutes::compute(topology);
  if (!intact.ok()) return intact.status();
  return FailureAnalysis(*std::move(intact), settings).run();
}

std::string describe(const Topology& topology, const routing::PhysicalCables& physical, const FailureCase& failure,
                     const routing::ShortCableNames* names) {
  switch (failure.kind) {
    case FailureCase::Kind::kNode:
      return absl::StrCat("node ", topology.node(failure.node).name);
    case FailureCase::Kind::kCable:
      return absl::StrCat("cable ", cable_text(topology, physical.cables[failure.cable], names));
    case FailureCase::Kind::kTwoCables:
      break;
  }
  return absl::StrCat("cables ", cable_text(topology, physical.cables[failure.cable], names), " and ",
                      cable_text(topology, physical.cables[failure.second_cable], names));
}

}  // namespace cableway::sim
