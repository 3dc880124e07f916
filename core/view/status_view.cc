#include "core/view/status_view.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/circuit/circuit_events.h"
#include "core/view/events_view.h"
#include "core/view/neighbour_facts.h"
#include "core/view/status_parts.h"
#include "routing/text/json_schema.h"

namespace cableway {
namespace {

// Session messages are bounded; long paths of many circuits would exceed the bound.
constexpr std::size_t kMaxListedPathBytes = 4U << 20;
// The same for the circuits of flows, with their names and numbers.
constexpr std::size_t kMaxFlowCircuitBytes = 2U << 20;
constexpr std::size_t kCircuitNumberBytes = 300;

nlohmann::ordered_json transport_json(const HopTransport& transport) {
  return {{"transport", transport.over}, {"reason", transport.reason}};
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

nlohmann::ordered_json flow_json(const FlowStatus& each, std::size_t& listed_bytes) {
  nlohmann::ordered_json json = flow_facts_json(each);
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

nlohmann::ordered_json flooding_json(const Flooding::Counters& counters) {
  return {{"advertisements_received", counters.received},
          {"advertisements_known", counters.duplicate},
          {"advertisements_stale", counters.stale},
          {"refused", counters.refused},
          {"originated", counters.originated},
          {"segments_retransmitted", counters.retransmitted}};
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
                                       {"own", own_flows_json(flows)},
                                       {"relayed", relayed_json(relay)},
                                       {"relay_memory", relay_memory_json(relay.memory)},
                                       {"rdma_memory", rdma_memory_json(relay.rdma_memory)},
                                       {"flows", flows_json(flows)},
                                       {"circuits", circuits_json(relay)}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cableway
