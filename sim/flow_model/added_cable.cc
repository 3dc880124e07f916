#include "sim/flow_model/added_cable.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/physical_cable.h"

namespace cableway::sim {
namespace {

using routing::Cable;
using routing::NodeIndex;
using routing::PhysicalCable;
using routing::PhysicalCables;
using routing::Topology;

std::uint64_t most_common_rate(const PhysicalCables& physical) {
  std::map<std::uint64_t, std::size_t> count;
  for (const PhysicalCable& wire : physical.cables) ++count[wire.rate_mbps];
  std::uint64_t rate_mbps = routing::kDefaultRateMbps;
  std::size_t most = 0;
  for (const auto& [rate, wires] : count) {
    if (wires < most) continue;
    rate_mbps = rate;
    most = wires;
  }
  return rate_mbps;
}

// The properties of a new port of a node.
struct NewPort {
  std::vector<std::string> roots;  // the root with the fewest cables first; empty: not all roots are known
  std::size_t functions = 1;
};

NewPort new_port(const Topology& topology, NodeIndex node) {
  std::map<std::string, std::size_t> uses;
  for (const routing::Adjacency& adjacency : topology.adjacencies(node)) {
    ++uses[topology.port_at(adjacency.cable, node).root];
  }
  NewPort port;
  if (uses.contains("")) return port;
  for (const auto& [root, cables] : uses) port.roots.push_back(root);
  std::stable_sort(port.roots.begin(), port.roots.end(),
                   [&](const std::string& left, const std::string& right) { return uses[left] < uses[right]; });
  return port;
}

// By node.
std::vector<NewPort> new_ports(const Topology& topology, const PhysicalCables& physical) {
  std::vector<NewPort> ports;
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    ports.push_back(new_port(topology, NodeIndex{node}));
  }
  for (const PhysicalCable& wire : physical.cables) {
    for (const NodeIndex node : {wire.a, wire.b}) {
      NewPort& port = ports[node.value];
      if (port.roots.empty()) continue;
      std::set<std::string> roots;
      for (const routing::CableIndex cable : wire.cables) roots.insert(topology.port_at(cable, node).root);
      port.functions = std::max(port.functions, roots.size());
    }
  }
  return ports;
}

// Puts one end of a function behind its root.
void put_behind_root(const Topology& topology, const NewPort& port, std::size_t function, routing::Port& end,
                     std::uint64_t& rate_mbps) {
  if (port.roots.empty()) return;
  end.root = port.roots[function];
  const std::vector<routing::SharedPart>& stated = topology.node(end.node).roots;
  rate_mbps = std::min(rate_mbps, routing::stated_rate_mbps(stated, end.root).value_or(rate_mbps));
}

class NewCable {
 public:
  NewCable(const Topology& topology, const AddedCableSettings& settings)
      : topology_(topology), latency_us_(settings.latency_us) {
    const PhysicalCables physical = routing::physical_cables(topology);
    ports_ = new_ports(topology, physical);
    rate_mbps_ = settings.rate_mbps.value_or(most_common_rate(physical));
    while (is_used(name_)) name_ += ".";
  }

  std::uint64_t rate_mbps() const { return rate_mbps_; }

  // At ports without other cables, each function its own connector. Names and addresses are ones that the topology
  // does not use.
  std::vector<Cable> between(NodeIndex a, NodeIndex b) const {
    const NewPort& at_a = ports_[a.value];
    const NewPort& at_b = ports_[b.value];
    const std::size_t functions = std::min(at_a.functions, at_b.functions);
    std::vector<Cable> cables(functions);
    for (std::size_t i = 0; i < functions; ++i) {
      Cable& cable = cables[i];
      cable.name = absl::StrCat(name_, i);
      cable.a.node = a;
      cable.b.node = b;
      cable.a.address = cable.b.address = absl::StrCat("fe80::add%added", i);
      cable.rate_mbps = (rate_mbps_ + functions - 1) / functions;
      cable.latency_us = latency_us_;
      put_behind_root(topology_, at_a, i, cable.a, cable.rate_mbps);
      put_behind_root(topology_, at_b, i, cable.b, cable.rate_mbps);
    }
    return cables;
  }

 private:
  bool is_used(const std::string& name) const {
    return std::any_of(topology_.cables().begin(), topology_.cables().end(),
                       [&](const Cable& cable) { return cable.name.starts_with(name); });
  }

  const Topology& topology_;
  double latency_us_;
  std::vector<NewPort> ports_;  // by node
  std::uint64_t rate_mbps_ = 0;
  std::string name_ = "added";
};

std::vector<AddedCable> unjoined_pairs(const Topology& topology) {
  std::vector<AddedCable> pairs;
  for (std::uint32_t a = 0; a < topology.node_count(); ++a) {
    for (std::uint32_t b = a + 1; b < topology.node_count(); ++b) {
      if (topology.cables_between(NodeIndex{a}, NodeIndex{b}).empty())
        pairs.push_back({.a = NodeIndex{a}, .b = NodeIndex{b}, .shares = {}});
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

bool helps(const AddedCableReport& report) {
  return !report.best.empty() && is_better(report.best.front().shares, report.intact);
}

absl::StatusOr<AddedCableReport> find_best_added_cable(const Topology& topology, const AddedCableSettings& settings) {
  absl::StatusOr<AllToAllRoutes> intact = AllToAllRoutes::compute(topology);
  if (!intact.ok()) return intact.status();
  const NewCable cable(topology, settings);
  MaxMinShares shares;
  AddedCableReport report;
  report.intact = all_to_all_shares(*intact, shares);
  report.rate_mbps = cable.rate_mbps();
  report.best = unjoined_pairs(topology);
  report.candidates = report.best.size();
  std::size_t done = 0;
  for (AddedCable& added : report.best) {
    const std::vector<Cable> functions = cable.between(added.a, added.b);
    added.functions = functions.size();
    added.behind_roots = !functions.front().a.root.empty() || !functions.front().b.root.empty();
    const absl::StatusOr<AllToAllRoutes> more = intact->with(functions);
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
