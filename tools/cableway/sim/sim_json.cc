#include "tools/cableway/sim/sim_json.h"

#include <optional>
#include <vector>

#include "routing/text/json_schema.h"
#include "sim/cable/cable_latency.h"
#include "sim/workload/workload_text.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

Json positive_or_null(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json names_of(const routing::Topology& topology, const std::vector<routing::NodeIndex>& nodes) {
  Json names = Json::array();
  for (const routing::NodeIndex node : nodes) names.push_back(topology.node(node).name);
  return names;
}

Json names_of(const routing::Topology& topology, const std::vector<routing::CableIndex>& cables) {
  Json names = Json::array();
  for (const routing::CableIndex cable : cables) names.push_back(topology.cable(cable).name);
  return names;
}

Json load_json(const SimReport& report, const sim::CableLoad& load) {
  const routing::Cable& cable = report.topology.cable(load.cable);
  const routing::Port& from = load.from_a ? cable.a : cable.b;
  const routing::Port& to = load.from_a ? cable.b : cable.a;
  return {{"from", report.topology.node(from.node).name},
          {"to", report.topology.node(to.node).name},
          {"bytes", load.bytes},
          {"utilisation", load.utilisation}};
}

Json cables_json(const SimReport& report) {
  Json cables = Json::array();
  const std::vector<sim::CableLoad>& loads = report.prediction.cables;
  for (std::size_t i = 0; i + 1 < loads.size(); i += 2) {
    const routing::Cable& cable = report.topology.cable(loads[i].cable);
    cables.push_back({{"name", cable.name},
                      {"rate_mbps", cable.rate_mbps},
                      {"directions", Json::array({load_json(report, loads[i]), load_json(report, loads[i + 1])})}});
  }
  return cables;
}

Json hottest_json(const SimReport& report) {
  if (report.prediction.cables.empty()) return nullptr;
  const sim::CableLoad& load = report.prediction.cables[report.prediction.hottest];
  Json hottest = {{"cable", report.topology.cable(load.cable).name}};
  hottest.update(load_json(report, load));
  return hottest;
}

// A connector or root may reach several nodes: its far end is null.
Json shared_direction_json(const SimReport& report, const sim::SharedLoad& load, bool outward) {
  const std::string& node = report.topology.node(load.node).name;
  const bool is_wire = load.kind == sim::SharedLoad::Kind::kWire;
  const Json far = is_wire
                       ? Json(report.topology.node(report.topology.neighbour_over(load.cables.front(), load.node)).name)
                       : Json();
  const sim::SharedLoad::Direction& direction = outward ? load.out : load.in;
  return {{"from", outward ? Json(node) : far},
          {"to", outward ? far : Json(node)},
          {"bytes", direction.bytes},
          {"utilisation", direction.utilisation}};
}

const char* kind_text(const sim::SharedLoad& load) {
  switch (load.kind) {
    case sim::SharedLoad::Kind::kWire:
      return "wire";
    case sim::SharedLoad::Kind::kConnector:
      return "connector";
    case sim::SharedLoad::Kind::kRoot:
      break;
  }
  return "root";
}

Json shared_json(const SimReport& report) {
  Json shared = Json::array();
  for (const sim::SharedLoad& load : report.prediction.shared) {
    shared.push_back({{"name", load.name},
                      {"kind", kind_text(load)},
                      {"cables", names_of(report.topology, load.cables)},
                      {"rate_mbps", load.rate_mbps},
                      {"directions", Json::array({shared_direction_json(report, load, true),
                                                  shared_direction_json(report, load, false)})}});
  }
  return shared;
}

Json hottest_shared_json(const SimReport& report) {
  const std::optional<HottestPlace> place = hottest_shared(report.prediction);
  if (!place) return nullptr;
  Json hottest = {{"name", place->shared->name}, {"kind", kind_text(*place->shared)}};
  hottest.update(shared_direction_json(report, *place->shared, place->outward));
  return hottest;
}

Json groups_json(const SimReport& report) {
  Json groups = Json::array();
  for (const sim::GroupPrediction& group : report.prediction.groups) {
    groups.push_back({{"name", group.name},
                      {"workload", workload::workload_text({group.workload, group.size})},
                      {"ranks", group.ranks},
                      {"started_s", group.started_s},
                      {"operations_s", group.operation_s},
                      {"time_s", positive_or_null(group.time_s)},
                      {"algbw_GBps", positive_or_null(group.algbw_GBps)},
                      {"busbw_GBps", positive_or_null(group.busbw_GBps)}});
  }
  return groups;
}

Json relays_json(const SimReport& report) {
  Json relays = Json::array();
  for (const sim::RelayLoad& relay : report.prediction.relays) {
    relays.push_back({{"node", report.topology.node(relay.node).name},
                      {"circuits", relay.circuits},
                      {"leases", relay.most_leases},
                      {"bytes", relay.bytes}});
  }
  return relays;
}

Json cut_json(const SimReport& report, const sim::CutEffect& effect) {
  Json flows = Json::array();
  for (const sim::CutEffect::HitFlow& each : effect.hit) {
    const bool went_on = each.reroute.has_value();
    const auto pause_s = [&] { return std::chrono::duration<double>(each.reroute->pause).count(); };
    flows.push_back({{"group", report.prediction.groups[each.group].name},
                     {"source_rank", each.flow.source},
                     {"destination_rank", each.flow.destination},
                     {"channel", each.flow.channel},
                     {"path", names_of(report.topology, each.flow.path.nodes)},
                     {"new_path", went_on ? names_of(report.topology, each.reroute->path.nodes) : Json(nullptr)},
                     {"pause_s", went_on ? Json(pause_s()) : Json(nullptr)}});
  }
  return {{"cables", names_of(report.topology, effect.wire)},
          {"when_s", std::chrono::duration<double>(effect.cut.when).count()},
          {"happened", effect.happened},
          {"flows", flows}};
}

Json failures_json(const SimReport& report) {
  Json failures = Json::array();
  for (const sim::CutEffect& effect : report.prediction.cuts) failures.push_back(cut_json(report, effect));
  return failures;
}

Json end_json(const SimReport& report) {
  if (!report.prediction.early_end) return nullptr;
  const sim::EarlyEnd& end = *report.prediction.early_end;
  return {{"time_s", report.prediction.whole_s}, {"share_done", end.share_done}, {"reason", end.reason}};
}

Json left_json(const SimReport& report) {
  if (!report.left) return nullptr;
  return {{"intact_time_s", report.left->intact_s},
          {"time_s", positive_or_null(report.left->without_s)},
          {"impossible", report.left->impossible.empty() ? Json(nullptr) : Json(report.left->impossible)}};
}

Json request_json(const SimReport& report) {
  const sim::PredictionRequest& request = report.request;
  return {{routing::kSchemaMember, routing::kJsonSchema},
          {"command", report.command},
          {"topology", report.source},
          {"nodes", report.topology.node_count()},
          {"workload", report.workload},
          {"level", report.level},
          {"multipath", multipath_text(report)},
          {"ranks", names_of(report.topology, request.ranks)},
          {"channels", request.channels},
          {"chunk_bytes", request.circuits.chunk_bytes},
          {"assumed_latencies", sim::assumed_latencies(report.topology)}};
}

}  // namespace

std::string sim_json(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  Json view = request_json(report);
  view.update({{"size_bytes", prediction.size == 0 ? Json(nullptr) : Json(prediction.size)},
               {"time_s", positive_or_null(prediction.time_s)},
               {"algbw_GBps", positive_or_null(prediction.algbw_GBps)},
               {"busbw_GBps", positive_or_null(prediction.busbw_GBps)},
               {"bound_time_s", report.bound ? Json(report.bound->seconds) : Json(nullptr)},
               {"bound_method", report.bound ? Json(report.bound->method) : Json(nullptr)},
               {"bound_gap", report.bound ? Json(report.bound->gap) : Json(nullptr)},
               {"ratio", positive_or_null(ratio_of(report))},
               {"ended_early", end_json(report)},
               {"hottest", hottest_json(report)},
               {"hottest_shared", hottest_shared_json(report)},
               {"cables", cables_json(report)},
               {"shared", shared_json(report)},
               {"relays", relays_json(report)},
               {"groups", groups_json(report)},
               {"failures", failures_json(report)},
               {"bytes_sent_again", report.prediction.bytes_again},
               {"on_cables_left", left_json(report)},
               {"flows", prediction.flows},
               {"circuits", report.level == "flow" ? Json(nullptr) : Json(prediction.circuits)},
               {"chunk_crossings", prediction.crossings},
               {"elapsed_s", report.elapsed_s}});
  // Command-line arguments need not be UTF-8.
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
