#include "tools/cableway/sim/sim_report.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology/topology_kind.h"
#include "sim/cable/cable_latency.h"

namespace cableway::cli {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

double ratio_of(const SimReport& report) {
  if (!report.bound || report.prediction.time_s <= 0) return 0;
  return report.bound->seconds / report.prediction.time_s;
}

std::vector<CableBusyness> hottest_first(const sim::Prediction& prediction) {
  std::vector<CableBusyness> cables;
  cables.reserve(prediction.cables.size() / 2);
  for (std::size_t i = 0; i + 1 < prediction.cables.size(); i += 2) {
    const sim::CableLoad& from_a = prediction.cables[i];
    const sim::CableLoad& from_b = prediction.cables[i + 1];
    cables.push_back({from_a.cable, from_a.utilisation, from_b.utilisation, from_a.bytes, from_b.bytes});
  }
  std::stable_sort(cables.begin(), cables.end(),
                   [](const CableBusyness& left, const CableBusyness& right) { return left.most() > right.most(); });
  return cables;
}

std::vector<sim::SharedLoad> hottest_shared_first(const sim::Prediction& prediction) {
  std::vector<sim::SharedLoad> sorted = prediction.shared;
  const auto most = [](const sim::SharedLoad& load) { return std::max(load.out.utilisation, load.in.utilisation); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const sim::SharedLoad& left, const sim::SharedLoad& right) { return most(left) > most(right); });
  return sorted;
}

std::optional<HottestPlace> hottest_shared(const sim::Prediction& prediction) {
  std::optional<HottestPlace> hottest;
  for (const sim::SharedLoad& load : prediction.shared) {
    for (const bool outward : {true, false}) {
      const double utilisation = (outward ? load.out : load.in).utilisation;
      if (!hottest || utilisation > hottest->utilisation) hottest = HottestPlace{&load, outward, utilisation};
    }
  }
  return hottest;
}

std::optional<HottestPlace> hottest_place(const sim::Prediction& prediction) {
  if (prediction.cables.empty()) return std::nullopt;
  const HottestPlace cable{nullptr, true, prediction.cables[prediction.hottest].utilisation};
  const std::optional<HottestPlace> shared = hottest_shared(prediction);
  return shared && shared->utilisation > cable.utilisation ? shared : cable;
}

std::string shared_direction_text(const Topology& topology, const sim::SharedLoad& shared, bool outward) {
  if (shared.kind == sim::SharedLoad::Kind::kWire) return direction_text(topology, shared.cables.front(), outward);
  return outward ? "out" : "in";
}

std::string place_text(const SimReport& report, const HottestPlace& place) {
  if (place.shared == nullptr) {
    const sim::CableLoad& cable = report.prediction.cables[report.prediction.hottest];
    return absl::StrCat(report.topology.cable(cable.cable).name, " ",
                        direction_text(report.topology, cable.cable, cable.from_a));
  }
  const bool is_wire = place.shared->kind == sim::SharedLoad::Kind::kWire;
  return absl::StrCat(place.shared->name, is_wire ? " " : ", ",
                      shared_direction_text(report.topology, *place.shared, place.outward));
}

std::string direction_text(const Topology& topology, CableIndex cable, bool from_a) {
  const routing::Cable& ends = topology.cable(cable);
  const std::string& a = topology.node(ends.a.node).name;
  const std::string& b = topology.node(ends.b.node).name;
  return from_a ? absl::StrCat(a, " -> ", b) : absl::StrCat(b, " -> ", a);
}

std::string topology_summary(const Topology& topology) {
  return absl::StrCat(std::string(routing::kind_name(routing::recognise_shape(topology).kind)), ", ",
                      topology.node_count(), topology.node_count() == 1 ? " node, " : " nodes, ",
                      topology.cable_count(), topology.cable_count() == 1 ? " cable" : " cables");
}

std::string assumed_latency_text(const Topology& topology) {
  const std::size_t cables = sim::assumed_latencies(topology);
  if (cables == 0) return "";
  return absl::StrCat("not known for ", cables, cables == 1 ? " cable: " : " cables: ", sim::kAssumedLatencyUs,
                      " us assumed");
}

std::string ranks_text(const Topology& topology, const std::vector<NodeIndex>& ranks, std::size_t most) {
  const std::span<const NodeIndex> shown = std::span(ranks).first(std::min(ranks.size(), most));
  return absl::StrCat(
      absl::StrJoin(shown, ", ",
                    [&](std::string* out, NodeIndex node) { absl::StrAppend(out, topology.node(node).name); }),
      shown.size() < ranks.size() ? ", .." : "");
}

std::string lost_flow_text(const SimReport& report, const sim::CutEffect::LostFlow& lost) {
  const std::vector<NodeIndex>& nodes = lost.flow.path.nodes;
  const std::string& group = report.prediction.groups[lost.group].name;
  const auto name = [&](NodeIndex node) { return report.topology.node(node).name; };
  const std::vector<NodeIndex> between(nodes.begin() + 1, nodes.end() - 1);
  return absl::StrCat(group, group.empty() ? "" : ": ", "rank ", lost.flow.source, " on ", name(nodes.front()),
                      " -> rank ", lost.flow.destination, " on ", name(nodes.back()),
                      between.empty() ? "" : " through ", ranks_text(report.topology, between, between.size()),
                      ", channel ", lost.flow.channel);
}

std::string wire_text(const Topology& topology, const std::vector<CableIndex>& wire) {
  return absl::StrJoin(wire, " and ",
                       [&](std::string* out, CableIndex cable) { absl::StrAppend(out, topology.cable(cable).name); });
}

}  // namespace cableway::cli
