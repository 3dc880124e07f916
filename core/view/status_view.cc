#include "core/view/status_view.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/circuit/circuit_events.h"
#include "core/view/events_view.h"
#include "core/view/neighbour_facts.h"
#include "routing/text/json_schema.h"

namespace cableway {
namespace {

// Session messages are bounded; long paths of many circuits would exceed the bound.
constexpr std::size_t kMaxListedPathBytes = 4U << 20;
// The same for the circuits of flows, with their names and numbers, and for what a flow waits for.
constexpr std::size_t kMaxFlowCircuitBytes = 2U << 20;
constexpr std::size_t kCircuitNumberBytes = 300;
constexpr std::size_t kMaxWaitsBytes = 512;

nlohmann::ordered_json transport_json(const HopTransport& transport) {
  return {{"transport", transport.over}, {"reason", transport.reason}};
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

nlohmann::ordered_json mbps_json(const std::optional<std::uint64_t>& bytes_per_s) {
  constexpr double kBytesPerMegabit = 125'000;
  if (!bytes_per_s.has_value()) return {};
  return static_cast<double>(*bytes_per_s) / kBytesPerMegabit;
}

const char* share_name(CircuitShare share) {
  switch (share) {
    case CircuitShare::kNone:
      return "none";
    case CircuitShare::kBundle:
      return "bundle";
    case CircuitShare::kAlternate:
      return "alternate";
  }
  return "none";
}

// null at a destination, which does not know it.
nlohmann::ordered_json milliseconds_json(bool is_known, std::uint64_t microseconds) {
  constexpr double kPerMillisecond = 1000;
  if (!is_known) return {};
  return static_cast<double>(microseconds) / kPerMillisecond;
}

// The circuits of a flow, as many as there is room for beside those of the flows before.
nlohmann::ordered_json flow_circuits_json(const FlowStatus& flow, std::size_t& listed_bytes) {
  nlohmann::ordered_json listed = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < flow.counts.circuits.size(); ++i) {
    const CircuitCounts& circuit = flow.counts.circuits[i];
    listed_bytes += kCircuitNumberBytes + circuit.path.size() + circuit.port.size() + circuit.transport.over.size() +
                    circuit.transport.reason.size();
    if (listed_bytes > kMaxFlowCircuitBytes) break;
    listed.push_back({{"path", circuit.path},
                      {"port", or_null(circuit.port)},
                      {"transport", circuit.transport.over},
                      {"reason", circuit.transport.reason},
                      {"carries", circuit.carries},
                      {"share", share_name(circuit.share)},
                      {"stalled_ms", milliseconds_json(flow.flow.sends, circuit.stalled_us)},
                      {"kept_away_ms", milliseconds_json(flow.flow.sends, circuit.kept_away_us)},
                      {"bytes", circuit.bytes},
                      {"mbps", mbps_json(flow.circuit_bytes_per_s[i])},
                      {"open_ms", circuit.open_ms}});
  }
  return listed;
}

nlohmann::ordered_json retired_json(const std::array<std::uint64_t, kCircuitEndKinds>& retired) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < retired.size(); ++kind) {
    json[std::string(name_of(static_cast<CircuitEndKind>(kind)))] = retired[kind];
  }
  return json;
}

nlohmann::ordered_json flow_json(const FlowStatus& each, std::size_t& listed_bytes) {
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
  json["circuits"] = flow_circuits_json(each, listed_bytes);
  return json;
}

nlohmann::ordered_json flows_json(const FlowsStatus& flows) {
  nlohmann::ordered_json listed = nlohmann::ordered_json::array();
  std::size_t listed_bytes = 0;
  for (const FlowStatus& each : flows.listed) listed.push_back(flow_json(each, listed_bytes));
  return listed;
}

nlohmann::ordered_json circuits_json(const RelayStatus& relay) {
  nlohmann::ordered_json circuits = nlohmann::ordered_json::array();
  std::size_t path_bytes = 0;
  for (const CircuitStatus& circuit : relay.circuits) {
    path_bytes += circuit.path.size();
    if (path_bytes > kMaxListedPathBytes) break;
    circuits.push_back({{"flow", flow_text(circuit.flow)},
                        {"path", circuit.path},
                        {"chunks", circuit.chunks},
                        {"bytes", circuit.bytes},
                        {"open_ms", circuit.open_ms},
                        {"upstream", transport_json(circuit.upstream)},
                        {"downstream", transport_json(circuit.downstream)}});
  }
  return circuits;
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

nlohmann::ordered_json memory_json(const RelayMemoryStatus& memory) {
  return with_leases({{"bytes", memory.bytes}, {"circuits_max", memory.max_circuits}}, memory);
}

nlohmann::ordered_json rdma_memory_json(const RdmaMemoryStatus& memory) {
  return with_leases({{"registered_bytes", memory.registered}}, memory);
}

nlohmann::ordered_json flooding_json(const Flooding::Counters& counters) {
  return {{"advertisements_received", counters.received},
          {"advertisements_known", counters.duplicate},
          {"advertisements_stale", counters.stale},
          {"refused", counters.refused},
          {"originated", counters.originated},
          {"segments_retransmitted", counters.retransmitted}};
}

// The time of day at that moment, if the wall clock has not jumped since.
nlohmann::ordered_json wall_time_json(const Node& node, const ProgramRun& run, Instant at) {
  return rfc3339(run.wall_clock() - std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - at));
}

nlohmann::ordered_json problem_json(EventCode code, const std::string& interface, const std::string& text) {
  return {{"code", name_of(code)}, {"interface", interface}, {"text", text}, {"seconds", nullptr}, {"since", nullptr}};
}

nlohmann::ordered_json problems_json(const Node& node, const std::vector<HostProblem>& more, const ProgramRun& run) {
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  for (const Problem& problem : node.problems()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(node.now() - problem.since).count();
    problems.push_back(problem_json(problem.code, problem.interface, problem.text));
    problems.back()["seconds"] = seconds;
    problems.back()["since"] = wall_time_json(node, run, problem.since);
  }
  for (const std::string& text : node.left_out()) {
    problems.push_back(problem_json(EventCode::kCableLeftOut, "", text));
  }
  for (const HostProblem& problem : more) problems.push_back(problem_json(problem.code, "", problem.text));
  return problems;
}

nlohmann::ordered_json keys_json(const std::vector<std::string>& fingerprints) {
  nlohmann::ordered_json keys = nlohmann::ordered_json::array();
  for (const std::string& each : fingerprints) keys.push_back({{"fingerprint", each}, {"seals", keys.empty()}});
  return keys;
}

// Oldest first, as in the view `events`.
nlohmann::ordered_json latest_events(const Node& node) {
  const std::vector<Event> all = node.events().events();
  nlohmann::ordered_json latest = nlohmann::ordered_json::array();
  for (auto event = all.rbegin(); event != all.rend() && latest.size() < kStatusEvents; ++event) {
    if (event->severity() >= EventSeverity::kWarning) latest.insert(latest.begin(), event_json(*event, node.now()));
  }
  return latest;
}

nlohmann::ordered_json counts_json(const EventLog& events) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const EventKind& kind : event_kinds()) counts[std::string(kind.name)] = events.count(kind.code);
  return counts;
}

}  // namespace

std::string status_view(const Node& node, const RelayStatus& relay, const FlowsStatus& flows, std::size_t sessions,
                        const std::vector<HostProblem>& problems, const std::vector<std::string>& keys,
                        const ProgramRun& run) {
  const auto& neighbours = node.neighbours().all();
  const auto up = std::count_if(neighbours.begin(), neighbours.end(), [](const auto& each) { return each.second.up; });
  const auto uptime = std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - run.started);
  const nlohmann::ordered_json view = {{routing::kSchemaMember, routing::kJsonSchema},
                                       {"node", node.identity().name},
                                       {"cluster", node.identity().cluster},
                                       {"version", or_null(run.version)},
                                       {"started", wall_time_json(node, run, run.started)},
                                       {"uptime_ms", uptime.count()},
                                       {"draining", node.draining()},
                                       {"draining_cables", node.draining_cables()},
                                       {"addresses", node.addresses()},
                                       {"relay_port", node.relay_port()},
                                       {"keys", keys_json(keys)},
                                       {"nodes", node.flooding().database().size()},
                                       {"cables_up", up},
                                       {"neighbours", status_neighbours(node)},
                                       {"problems", problems_json(node, problems, run)},
                                       {"events", counts_json(node.events())},
                                       {"latest_events", latest_events(node)},
                                       {"sessions", sessions},
                                       {"flooding", flooding_json(node.flooding().counters())},
                                       {"own",
                                        {{"flows_open", flows.open},
                                         {"flows_opened", flows.opened},
                                         {"flows_failed", flows.failed},
                                         {"circuits_retired", retired_json(flows.retired)},
                                         {"bytes_sent_again", flows.bytes_again}}},
                                       {"relayed",
                                        {{"bytes", relay.bytes},
                                         {"chunks", relay.chunks},
                                         {"circuits_open", relay.circuits.size()},
                                         {"circuits_opened", relay.circuits_opened},
                                         {"circuits_broken", relay.circuits_broken},
                                         {"setups_refused", relay.setups_refused}}},
                                       {"relay_memory", memory_json(relay.memory)},
                                       {"rdma_memory", rdma_memory_json(relay.rdma_memory)},
                                       {"flows", flows_json(flows)},
                                       {"circuits", circuits_json(relay)}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cableway
