#include "core/view/status_parts.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/circuit/circuit_events.h"
#include "core/view/events_view.h"
#include "core/view/present_problems.h"

namespace cableway {
namespace {

// Session messages are bounded.
constexpr std::size_t kMaxWaitsBytes = 512;

nlohmann::ordered_json retired_json(const std::array<std::uint64_t, kCircuitEndKinds>& retired) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < retired.size(); ++kind) {
    json[std::string(name_of(static_cast<CircuitEndKind>(kind)))] = retired[kind];
  }
  return json;
}

// Appends the members common to both kinds of relay memory to `first`.
template <typename MemoryStatus>
nlohmann::ordered_json with_leases(nlohmann::ordered_json first, const MemoryStatus& memory) {
  first.update({{"floor_bytes", memory.floors},
                {"leases", memory.leases},
                {"leased", memory.leased},
                {"leased_max", memory.max_leased},
                {"leased_bytes", memory.leased_bytes},
                {"waits", memory.waits}});
  return first;
}

}  // namespace

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

nlohmann::ordered_json mbps_json(const std::optional<std::uint64_t>& bytes_per_s) {
  constexpr double kBytesPerMegabit = 125'000;
  if (!bytes_per_s.has_value()) return {};
  return static_cast<double>(*bytes_per_s) / kBytesPerMegabit;
}

nlohmann::ordered_json milliseconds_json(bool is_known, std::uint64_t microseconds) {
  constexpr double kPerMillisecond = 1000;
  if (!is_known) return {};
  return static_cast<double>(microseconds) / kPerMillisecond;
}

nlohmann::ordered_json wall_time_json(const Node& node, const ProgramRun& run, Instant at) {
  return rfc3339(run.wall_clock() - std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - at));
}

nlohmann::ordered_json flow_facts_json(const FlowStatus& each) {
  const bool knows_pauses = each.flow.sends;
  nlohmann::ordered_json json = {
      {"flow", flow_text(each.flow.flow)},
      {"process", each.process == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(each.process)},
      {"node", each.flow.node},
      {"sends", each.flow.sends},
      {"path", each.flow.path},
      {"port", or_null(each.flow.port)},
      {"transport", each.flow.transport.over},
      {"reason", each.flow.transport.reason},
      {"open_ms", each.flow.open_ms},
      {"bytes", each.counts.bytes},
      {"mbps", mbps_json(each.bytes_per_s)},
      {"waits", or_null(each.waits.substr(0, kMaxWaitsBytes))}};
  json["bytes_sent_again"] = knows_pauses ? nlohmann::ordered_json(each.counts.bytes_again) : nlohmann::ordered_json();
  json["reroutes"] = knows_pauses ? nlohmann::ordered_json(each.counts.reroutes) : nlohmann::ordered_json();
  json["pause_ms"] = milliseconds_json(knows_pauses, each.counts.pause_us);
  json["circuits_retired"] = retired_json(each.counts.retired);
  return json;
}

nlohmann::ordered_json own_flows_json(const FlowsStatus& flows) {
  return {{"flows_open", flows.open},
          {"flows_opened", flows.opened},
          {"flows_failed", flows.failed},
          {"circuits_retired", retired_json(flows.retired)},
          {"bytes_sent_again", flows.bytes_again}};
}

nlohmann::ordered_json relayed_json(const RelayStatus& relay) {
  return {{"bytes", relay.bytes},
          {"chunks", relay.chunks},
          {"circuits_open", relay.circuits_open},
          {"circuits_opened", relay.circuits_opened},
          {"circuits_broken", relay.circuits_broken},
          {"setups_refused", relay.setups_refused}};
}

nlohmann::ordered_json relay_memory_json(const RelayMemoryStatus& memory) {
  return with_leases({{"bytes", memory.bytes}, {"circuits_max", memory.max_circuits}}, memory);
}

nlohmann::ordered_json rdma_memory_json(const RdmaMemoryStatus& memory) {
  return with_leases({{"registered_bytes", memory.registered}}, memory);
}

nlohmann::ordered_json problems_json(const Node& node, const std::vector<HostProblem>& more, const ProgramRun& run) {
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  for (const PresentProblem& each : present_problems(node, more)) {
    problems.push_back({{"code", name_of(each.code)},
                        {"interface", each.interface},
                        {"neighbour", or_null(each.neighbour)},
                        {"cable", or_null(each.cable)},
                        {"text", each.text},
                        {"seconds", nullptr},
                        {"since", nullptr}});
    if (!each.since) continue;
    problems.back()["seconds"] = seconds_since(node, *each.since).count();
    problems.back()["since"] = wall_time_json(node, run, *each.since);
  }
  return problems;
}

}  // namespace cableway
