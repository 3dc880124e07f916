#include "sim/flow_model/added_cable.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace cableway::sim {
namespace {

using routing::Cable;
using routing::NodeIndex;
using routing::Topology;

std::uint64_t most_common_rate(const Topology& topology) {
  std::map<std::uint64_t, std::size_t> count;
  for (const Cable& cable : topology.cables()) ++count[cable.rate_mbps];
  std::uint64_t rate_mbps = routing::kDefaultRateMbps;
  std::size_t most = 0;
  for (const auto& [rate, cables] : count) {
    if (cables < most) continue;
    rate_mbps = rate;
    most = cables;
  }
  return rate_mbps;
}

// At ports without other cables, each its own connector. Its name is unused.
Cable new_cable(const Topology& topology, const AddedCableSettings& settings) {
  Cable cable;
  cable.name = "added";
  while (topology.find_cable(cable.name)) cable.name += ".";
  cable.a.address = "fe80::add%added";
  cable.b.address = "fe80::add%added";
  cable.rate_mbps = settings.rate_mbps.value_or(most_common_rate(topology));
  cable.latency_us = settings.latency_us;
  return cable;
}

std::vector<AddedCable> unjoined_pairs(const Topology& topology) {
  std::vector<AddedCable> pairs;
  for (std::uint32_t a = 0; a < topology.node_count(); ++a) {
    for (std::uint32_t b = a + 1; b < topology.node_count(); ++b) {
      if (topology.cables_between(NodeIndex{a}, NodeIndex{b}).empty())
        pairs.push_back({NodeIndex{a}, NodeIndex{b}, {}});
    }
  }
  return pairs;
}

}  // namespace

bool is_better(const AllToAllShares& left, const AllToAllShares& right) {
  // Compared in whole bytes per second, since rounding makes equal rates differ.
  const auto rank = [](const AllToAllShares& shares) {
    return std::tuple(-static_cast<std::int64_t>(shares.pairs_cut), std::llround(shares.least_rate),
                      std::llround(shares.total_rate));
  };
  return rank(left) > rank(right);
}

absl::StatusOr<AddedCableReport> find_best_added_cable(const Topology& topology, const AddedCableSettings& settings) {
  absl::StatusOr<AllToAllRoutes> intact = AllToAllRoutes::compute(topology);
  if (!intact.ok()) return intact.status();
  Cable cable = new_cable(topology, settings);
  MaxMinShares shares;
  AddedCableReport report;
  report.intact = all_to_all_shares(*intact, shares);
  report.rate_mbps = cable.rate_mbps;
  report.best = unjoined_pairs(topology);
  report.candidates = report.best.size();
  std::size_t done = 0;
  for (AddedCable& added : report.best) {
    cable.a.node = added.a;
    cable.b.node = added.b;
    const absl::StatusOr<AllToAllRoutes> more = intact->with(cable);
    if (!more.ok()) return more.status();
    added.shares = all_to_all_shares(*more, shares);
    added.shares.hottest.reset();
    settings.progress(++done, report.candidates);
  }
  std::stable_sort(report.best.begin(), report.best.end(), [](const AddedCable& left, const AddedCable& right) {
    return is_better(left.shares, right.shares);
  });
  if (report.best.size() > settings.most) report.best.resize(settings.most);
  return report;
}

}  // namespace cableway::sim
