#include "core/metrics/node_metrics.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/metrics/metrics_text.h"
#include "core/node/neighbour_cable.h"
#include "core/view/present_problems.h"

namespace cableway {
namespace {

constexpr double kBytesPerMbit = 125'000;
constexpr double kNanosecond = 1e-9;
constexpr double kPercent = 0.01;

std::uint64_t as_number(bool truth) {
  return truth ? 1 : 0;
}

std::string_view as_view(absl::string_view text) {
  return {text.data(), text.size()};
}

void add_node(MetricsText& text, const ViewSources& sources, const std::string& version) {
  const Node& node = sources.node;
  const auto& neighbours = node.neighbours().all();
  const auto up = std::count_if(neighbours.begin(), neighbours.end(), [](const auto& each) { return each.second.up; });
  text.add(Metric::kBuildInfo, {version}, std::uint64_t{1});
  text.add(Metric::kNodeInfo, {node.identity().name, node.identity().cluster}, std::uint64_t{1});
  text.add(Metric::kDraining, {}, as_number(node.draining()));
  text.add(Metric::kNodes, {}, std::uint64_t{node.flooding().database().size()});
  text.add(Metric::kTopologyCables, {}, std::uint64_t{sources.topology().plugged_cables().size()});
  text.add(Metric::kCablesUp, {}, static_cast<std::uint64_t>(up));
  text.add(Metric::kSessions, {}, std::uint64_t{sources.sessions()});
}

void add_problems(MetricsText& text, const ViewSources& sources) {
  std::map<EventCode, std::uint64_t> present;
  for (const PresentProblem& each : present_problems(sources.node, sources.problems())) ++present[each.code];
  std::uint64_t all = 0;
  for (const auto& [code, count] : present) {
    text.add(Metric::kProblem, {kind_of(code).name, name_of(kind_of(code).severity)}, count);
    all += count;
  }
  text.add(Metric::kProblems, {}, all);
}

void add_events(MetricsText& text, const EventLog& events) {
  for (const EventKind& kind : event_kinds()) {
    text.add(Metric::kEvents, {kind.name, name_of(kind.severity)}, events.count(kind.code));
  }
  text.add(Metric::kReroutes, {}, events.count(EventCode::kFlowRerouted));
}

void add_traffic(MetricsText& text, const std::string& interface, const InterfaceTraffic& traffic) {
  const auto add = [&](std::string_view direction, const TrafficCounts& counts) {
    text.add(Metric::kPortBytes, {interface, direction}, counts.bytes);
    if (counts.rdma_bytes) text.add(Metric::kPortRdmaBytes, {interface, direction}, *counts.rdma_bytes);
    text.add(Metric::kPortPackets, {interface, direction}, counts.packets);
    text.add(Metric::kPortErrors, {interface, direction}, counts.errors);
    text.add(Metric::kPortDrops, {interface, direction}, counts.drops);
  };
  add("received", traffic.received);
  add("sent", traffic.sent);
}

void add_ports(MetricsText& text, const Node& node, const HostTraffic& host) {
  std::map<PortId, std::uint64_t> cables;
  for (const auto& [key, neighbour] : node.neighbours().all()) cables[key.port] += as_number(neighbour.up);
  for (const PortFacts& port : node.neighbours().ports()) {
    text.add(Metric::kPortCarrier, {port.interface}, as_number(port.carrier));
    text.add(Metric::kPortCables, {port.interface}, cables[port.id]);
    if (port.rate_mbps > 0) {
      text.add(Metric::kPortSpeed, {port.interface}, static_cast<double>(port.rate_mbps) * kBytesPerMbit);
    }
    const auto traffic = host.find(port.interface);
    if (traffic != host.end()) add_traffic(text, port.interface, traffic->second);
  }
}

void add_cables(MetricsText& text, const ViewSources& sources) {
  std::map<std::string, const Neighbour*> cables;
  const std::string& own = sources.node.identity().name;
  for (const auto& [key, neighbour] : sources.node.neighbours().all()) {
    const Neighbour*& named = cables[cable_name(own, neighbour)];
    if (named == nullptr || neighbour.up) named = &neighbour;
  }
  const routing::Topology& topology = sources.topology();
  std::size_t measured = 0;
  for (const auto& [name, neighbour] : cables) {
    if (++measured > kMaxMeasuredCables) break;
    const std::initializer_list<std::string_view> labels = {name, neighbour->our_interface, neighbour->name};
    text.add(Metric::kCableUp, labels, as_number(neighbour->up));
    if (neighbour->up && neighbour->latency) {
      text.add(Metric::kCableLatency, labels, static_cast<double>(neighbour->latency->count()) * kNanosecond);
    }
    const routing::Cable* const cable = topology.find_plugged(name);
    if (cable != nullptr) text.add(Metric::kCableLoss, labels, cable->loss_percent * kPercent);
  }
  text.add(Metric::kCablesLeftOut, {}, std::uint64_t{cables.size() - std::min(cables.size(), kMaxMeasuredCables)});
}

void add_control(MetricsText& text, const ViewSources& sources) {
  for (const PortControlCounters& port : sources.control().ports) {
    const std::string& name = port.interface;
    std::uint64_t errors = 0;
    for (const auto& [number, count] : port.send_errors) errors += count;
    text.add(Metric::kControlDatagrams, {name, "received"}, port.received);
    text.add(Metric::kControlDatagrams, {name, "sent"}, port.sent);
    text.add(Metric::kControlDropped, {name, "oversized"}, port.oversized);
    text.add(Metric::kControlDropped, {name, "foreign"}, port.foreign);
    text.add(Metric::kControlDropped, {name, "own"}, port.own);
    text.add(Metric::kControlDropped, {name, "routed"}, port.ttl_refused);
    text.add(Metric::kControlErrors, {name}, errors);
  }
  const Neighbours::Counters& dropped = sources.node.neighbours().counters();
  text.add(Metric::kHellosDropped, {"garbage"}, dropped.garbage);
  text.add(Metric::kHellosDropped, {"refused"}, dropped.refused);
  text.add(Metric::kHellosDropped, {"replayed"}, dropped.replayed);
  text.add(Metric::kHellosDropped, {"unknown"}, dropped.unknown);
  const Flooding::Counters flooding = sources.node.flooding().counters();
  text.add(Metric::kAdvertisements, {}, flooding.received);
  text.add(Metric::kAdvertisementsIgnored, {"known"}, flooding.duplicate);
  text.add(Metric::kAdvertisementsIgnored, {"stale"}, flooding.stale);
  text.add(Metric::kAdvertisementsIgnored, {"refused"}, flooding.refused);
  text.add(Metric::kAdvertisementsOwn, {}, flooding.originated);
  text.add(Metric::kSegmentsAgain, {}, flooding.retransmitted);
}

void add_flows(MetricsText& text, const FlowsStatus& flows) {
  std::uint64_t waiting = 0;
  std::array<std::uint64_t, 2> rates{};  // received, sent
  for (const FlowStatus& each : flows.listed) {
    waiting += as_number(!each.waits.empty());
    rates[each.flow.sends ? 1 : 0] += each.bytes_per_s.value_or(0);
  }
  text.add(Metric::kFlowsOpen, {}, flows.open);
  text.add(Metric::kFlowsWaiting, {}, waiting);
  text.add(Metric::kFlowsOpened, {}, flows.opened);
  text.add(Metric::kFlowsFailed, {}, flows.failed);
  text.add(Metric::kFlowRate, {"received"}, rates[0]);
  text.add(Metric::kFlowRate, {"sent"}, rates[1]);
  text.add(Metric::kFlowsLeftOut, {},
           std::uint64_t{flows.open - std::min<std::uint64_t>(flows.open, flows.listed.size())});
  for (std::size_t kind = 0; kind < flows.retired.size(); ++kind) {
    text.add(Metric::kCircuitsRetired, {as_view(name_of(static_cast<CircuitEndKind>(kind)))}, flows.retired[kind]);
  }
  text.add(Metric::kBytesAgain, {}, flows.bytes_again);
}

template <typename MemoryStatus>
void add_relay_memory(MetricsText& text, std::string_view transport, const MemoryStatus& memory) {
  text.add(Metric::kRelayMemory, {transport, "floors"}, memory.floors);
  text.add(Metric::kRelayMemory, {transport, "leased"}, memory.leased_bytes);
  text.add(Metric::kLeases, {transport}, memory.leases);
  text.add(Metric::kLeased, {transport}, memory.leased);
  text.add(Metric::kLeaseWaits, {transport}, memory.waits);
}

void add_relay(MetricsText& text, const RelayStatus& relay) {
  text.add(Metric::kRelayBytes, {}, relay.bytes);
  text.add(Metric::kRelayChunks, {}, relay.chunks);
  text.add(Metric::kRelayCircuits, {}, relay.circuits_open);
  text.add(Metric::kRelayOpened, {}, relay.circuits_opened);
  text.add(Metric::kRelayBroken, {}, relay.circuits_broken);
  text.add(Metric::kRelayRefused, {}, relay.setups_refused);
  text.add(Metric::kRelayMax, {}, relay.memory.max_circuits);
  text.add(Metric::kRelayMemoryMax, {}, relay.memory.bytes);
  add_relay_memory(text, "tcp", relay.memory);
  add_relay_memory(text, "rdma", relay.rdma_memory);
}

void add_process(MetricsText& text, const ProcessUse& use) {
  text.add(Metric::kCpu, {}, use.cpu_s);
  text.add(Metric::kResident, {}, use.resident_bytes);
  text.add(Metric::kVirtual, {}, use.virtual_bytes);
  text.add(Metric::kOpenFds, {}, use.open_files);
  text.add(Metric::kMaxFds, {}, use.max_files);
  text.add(Metric::kStart, {}, use.start_time_s);
}

}  // namespace

std::string node_metrics(const ViewSources& sources, const HostMeasures& host, const std::string& version) {
  MetricsText text;
  add_node(text, sources, version);
  add_problems(text, sources);
  add_events(text, sources.node.events());
  add_ports(text, sources.node, host.traffic);
  add_cables(text, sources);
  add_control(text, sources);
  add_flows(text, sources.flows());
  add_relay(text, sources.relay_counts());
  add_process(text, host.process);
  return text.text();
}

}  // namespace cableway
