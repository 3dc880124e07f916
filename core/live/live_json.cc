#include "core/live/live_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "core/circuit/circuit_events.h"
#include "core/node/neighbour_cable.h"
#include "core/view/port_bytes.h"
#include "core/view/present_problems.h"
#include "routing/text/json_schema.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_nothing(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text.substr(0, kMaxLiveText));
}

Json counts_or_null(const HostTraffic& traffic, const std::string& interface) {
  const auto found = traffic.find(interface);
  if (found == traffic.end()) return nullptr;
  const auto& [received, sent] = found->second;
  Json counts = Json::object();
  put_bytes({received.bytes, sent.bytes, received.rdma_bytes, sent.rdma_bytes}, counts);
  return counts;
}

Json cable_json(const ViewSources& sources, const Neighbour& neighbour) {
  constexpr double kNanosecondsPerMicrosecond = 1000;
  const bool has_latency = neighbour.up && neighbour.latency.has_value();
  return {
      {"cable", cable_name(sources.node.identity().name, neighbour)},
      {"neighbour", neighbour.name},
      {"interface", neighbour.interface},
      {"up", neighbour.up},
      {"latency_us", has_latency ? Json(static_cast<double>(neighbour.latency->count()) / kNanosecondsPerMicrosecond)
                                 : Json(nullptr)}};
}

Json live_ports(const ViewSources& sources, const HostTraffic& traffic) {
  Json ports = Json::array();
  for (const PortFacts& port : sources.node.neighbours().ports()) {
    if (ports.size() == kMaxLivePorts) break;
    Json cables = Json::array();
    for (const auto& [key, neighbour] : sources.node.neighbours().all()) {
      if (key.port == port.id && cables.size() < kMaxLivePorts) cables.push_back(cable_json(sources, neighbour));
    }
    ports.push_back({{"interface", port.interface},
                     {"carrier", port.carrier},
                     {"rate_mbps", port.rate_mbps == 0 ? Json(nullptr) : Json(port.rate_mbps)},
                     {"rdma", port.gid_index >= 0},
                     {"counts", counts_or_null(traffic, port.interface)},
                     {"cables", std::move(cables)}});
  }
  return ports;
}

Json live_problem(const Node& node, const PresentProblem& problem) {
  const EventKind& kind = kind_of(problem.code);
  return {{"code", kind.name},
          {"severity", name_of(kind.severity)},
          {"interface", text_or_nothing(problem.interface)},
          {"text", problem.text.substr(0, kMaxLiveText)},
          {"advice", kind.advice == "-" ? Json(nullptr) : Json(kind.advice)},
          {"seconds", problem.since ? Json(seconds_since(node, *problem.since).count()) : Json(nullptr)}};
}

// Those of the host first: there are few, and nodes may have more than a page shows.
Json live_problems(const ViewSources& sources) {
  std::vector<PresentProblem> present = present_problems(sources.node, sources.problems());
  std::stable_partition(present.begin(), present.end(), [](const PresentProblem& each) { return each.of_host; });
  Json problems = Json::array();
  for (const PresentProblem& each : present) {
    if (problems.size() == kMaxLiveProblems) break;
    problems.push_back(live_problem(sources.node, each));
  }
  return problems;
}

Json live_flow(const FlowStatus& each) {
  // A path counts once, whatever circuits lead over it.
  Json paths = Json::array();
  for (const CircuitCounts& circuit : each.counts.circuits) {
    if (!circuit.carries || std::find(paths.begin(), paths.end(), circuit.path) != paths.end()) continue;
    paths.push_back(circuit.path.substr(0, kMaxLiveText));
  }
  if (paths.empty()) paths.push_back(each.flow.path.substr(0, kMaxLiveText));
  return {{"flow", flow_text(each.flow.flow)},
          {"process", each.process == 0 ? Json(nullptr) : Json(each.process)},
          {"node", each.flow.node},
          {"sends", each.flow.sends},
          {"paths", std::move(paths)},
          {"bytes", each.counts.bytes},
          {"bytes_per_s", each.bytes_per_s ? Json(*each.bytes_per_s) : Json(nullptr)},
          {"reroutes", each.flow.sends ? Json(each.counts.reroutes) : Json(nullptr)},
          {"waits", text_or_nothing(each.waits)}};
}

// Of all, the `most` that come first in `order`.
template <typename Each, typename Order>
std::vector<const Each*> first_of(const std::vector<Each>& all, std::size_t most, Order order) {
  std::vector<const Each*> sorted;
  sorted.reserve(all.size());
  for (const Each& each : all) sorted.push_back(&each);
  const std::size_t kept = std::min(most, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept), sorted.end(),
                    [&](const Each* left, const Each* right) { return order(*left, *right); });
  sorted.resize(kept);
  return sorted;
}

Json live_flows(const FlowsStatus& flows) {
  const auto order = [](const FlowStatus& left, const FlowStatus& right) {
    if (left.waits.empty() != right.waits.empty()) return right.waits.empty();
    return left.bytes_per_s.value_or(0) > right.bytes_per_s.value_or(0);
  };
  Json listed = Json::array();
  for (const FlowStatus* each : first_of(flows.listed, kMaxLiveFlows, order)) listed.push_back(live_flow(*each));
  return listed;
}

Json live_own(const FlowsStatus& flows) {
  std::array<std::uint64_t, 2> rates{};  // received, sent
  std::uint64_t waiting = 0;
  for (const FlowStatus& each : flows.listed) {
    rates[each.flow.sends ? 1 : 0] += each.bytes_per_s.value_or(0);
    if (!each.waits.empty()) ++waiting;
  }
  return {{"flows_open", flows.open},         {"flows_opened", flows.opened},       {"flows_failed", flows.failed},
          {"flows_waiting", waiting},         {"received_bytes_per_s", rates[0]},   {"sent_bytes_per_s", rates[1]},
          {"bytes_again", flows.bytes_again}, {"flows_listed", flows.listed.size()}};
}

Json live_circuits(const RelayStatus& relay) {
  const auto order = [](const CircuitStatus& left, const CircuitStatus& right) { return left.bytes > right.bytes; };
  Json circuits = Json::array();
  for (const CircuitStatus* each : first_of(relay.circuits, kMaxLiveCircuits, order)) {
    circuits.push_back({{"flow", flow_text(each->flow)},
                        {"path", each->path.substr(0, kMaxLiveText)},
                        {"bytes", each->bytes},
                        {"open_ms", each->open_ms}});
  }
  return circuits;
}

Json live_relay(const RelayStatus& relay) {
  return {{"bytes", relay.bytes},
          {"circuits_open", relay.circuits_open},
          {"circuits_opened", relay.circuits_opened},
          {"circuits_broken", relay.circuits_broken},
          {"memory_bytes", relay.memory.floors + relay.memory.leased_bytes},
          {"memory_limit_bytes", relay.memory.bytes}};
}

}  // namespace

std::string live_json(const ViewSources& sources, const HostTraffic& traffic, const std::string& version) {
  const Node& node = sources.node;
  const FlowsStatus flows = sources.flows();
  const RelayStatus relay = sources.relay();
  const Json live = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"node", node.identity().name},
                     {"cluster", node.identity().cluster},
                     {"version", version},
                     // Only differences mean something.
                     {"at_ms", std::chrono::duration_cast<std::chrono::milliseconds>(node.now().since_start).count()},
                     {"draining", node.draining()},
                     {"sessions", sources.sessions()},
                     {"ports", live_ports(sources, traffic)},
                     {"problems", live_problems(sources)},
                     {"own", live_own(flows)},
                     {"flows", live_flows(flows)},
                     {"relayed", live_relay(relay)},
                     {"circuits", live_circuits(relay)}};
  return live.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
