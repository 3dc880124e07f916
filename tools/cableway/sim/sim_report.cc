#include "tools/cableway/sim/sim_report.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology/topology_kind.h"
#include "sim/cable/cable_latency.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

namespace {

std::string pause_text(Duration pause) {
  return seconds_text(std::chrono::duration<double>(pause).count());
}

// " through n1, n2"; "" if there is no node between
std::string through_text(const Topology& topology, const routing::Path& path) {
  if (path.nodes.size() <= 2) return "";
  const std::vector<NodeIndex> between(path.nodes.begin() + 1, path.nodes.end() - 1);
  return absl::StrCat(" through ", ranks_text(topology, between, between.size()));
}

}  // namespace

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

std::vector<double> wire_utilisations(const SimReport& report) {
  std::vector<double> all;
  for (const sim::CableLoad& load : report.prediction.cables) all.push_back(load.utilisation);
  for (const sim::SharedLoad& shared : report.prediction.shared) {
    if (shared.kind != sim::SharedLoad::Kind::kWire) continue;
    for (const CableIndex cable : shared.cables) {
      const bool out_is_a = report.topology.cable(cable).a.node == shared.node;
      double* const both = &all[2ULL * cable.value];
      both[0] = std::max(both[0], (out_is_a ? shared.out : shared.in).utilisation);
      both[1] = std::max(both[1], (out_is_a ? shared.in : shared.out).utilisation);
    }
  }
  return all;
}

std::string shared_name(const routing::ShortCableNames& names, const sim::SharedLoad& shared) {
  if (shared.kind != sim::SharedLoad::Kind::kWire) return shared.name;
  return absl::StrJoin(shared.cables, "=",
                       [&](std::string* out, CableIndex cable) { absl::StrAppend(out, names.of(cable)); });
}

std::string place_text(const SimReport& report, const HottestPlace& place) {
  if (place.shared == nullptr) {
    const sim::CableLoad& cable = report.prediction.cables[report.prediction.hottest];
    return absl::StrCat(routing::ShortCableNames(report.topology).of(cable.cable), " ",
                        direction_text(report.topology, cable.cable, cable.from_a));
  }
  const bool is_wire = place.shared->kind == sim::SharedLoad::Kind::kWire;
  return absl::StrCat(shared_name(routing::ShortCableNames(report.topology), *place.shared), is_wire ? " " : ", ",
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

std::string multipath_text(const SimReport& report) {
  switch (report.request.circuits.shares) {
    case CircuitShare::kNone:
      return "off";
    case CircuitShare::kBundle:
      return "bundle";
    case CircuitShare::kAlternate:
      return report.request.settled ? "settled" : "all";
  }
  return "off";
}

std::string flows_text(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  std::string flows = absl::StrCat(prediction.flows, prediction.flows == 1 ? " flow" : " flows");
  if (prediction.circuits <= prediction.flows) return flows;
  return absl::StrCat(flows, ", ", prediction.circuits, " circuits");
}

std::string hit_flow_text(const SimReport& report, const sim::CutEffect::HitFlow& hit) {
  const std::vector<NodeIndex>& nodes = hit.flow.path.nodes;
  const std::string& group = report.prediction.groups[hit.group].name;
  const auto name = [&](NodeIndex node) { return report.topology.node(node).name; };
  std::string text = absl::StrCat(group, group.empty() ? "" : ": ", "rank ", hit.flow.source, " on ",
                                  name(nodes.front()), " -> rank ", hit.flow.destination, " on ", name(nodes.back()),
                                  through_text(report.topology, hit.flow.path), ", channel ", hit.flow.channel);
  if (!hit.reroute) return text;
  const std::string pause = hit.reroute->pause > Duration{0}
                                ? absl::StrCat("after ", pause_text(hit.reroute->pause))
                                : std::string("without a pause, as it had nothing to send,");
  const std::string through = through_text(report.topology, hit.reroute->path);
  return absl::StrCat(text, ": ", pause, through.empty() ? " over another cable" : through);
}

std::optional<PauseSpan> pause_span(const sim::CutEffect& effect) {
  std::optional<PauseSpan> span;
  for (const sim::CutEffect::HitFlow& hit : effect.hit) {
    if (!hit.reroute || hit.reroute->pause == Duration{0}) continue;
    const Instant begin{hit.reroute->when.since_start - hit.reroute->pause};
    if (!span) span = PauseSpan{begin, hit.reroute->when, Duration{0}};
    span->begin = std::min(span->begin, begin);
    span->end = std::max(span->end, hit.reroute->when);
    span->longest = std::max(span->longest, hit.reroute->pause);
  }
  return span;
}

std::string hit_summary(const SimReport& report, const sim::CutEffect& effect) {
  const auto rerouted = static_cast<std::size_t>(
      std::count_if(effect.hit.begin(), effect.hit.end(),
                    [](const sim::CutEffect::HitFlow& hit) { return hit.reroute.has_value(); }));
  std::string flows = absl::StrCat(effect.hit.size(), effect.hit.size() == 1 ? " flow" : " flows", " crossed it");
  if (effect.hit.empty()) return flows;
  if (rerouted == 0) {
    return absl::StrCat(flows, report.prediction.early_end ? ", none had gone on when the job ended"
                                                           : ", none had anything left to send");
  }
  const std::optional<PauseSpan> span = pause_span(effect);
  return absl::StrCat(flows, ", ", rerouted == effect.hit.size() ? "all" : absl::StrCat(rerouted),
                      " went on over another path ",
                      span ? absl::StrCat("after at most ", pause_text(span->longest)) : "without a pause");
}

std::string wire_text(const Topology& topology, const std::vector<CableIndex>& wire) {
  const routing::ShortCableNames names(topology);
  return absl::StrJoin(wire, " and ",
                       [&](std::string* out, CableIndex cable) { absl::StrAppend(out, names.of(cable)); });
}

}  // namespace cableway::cli
