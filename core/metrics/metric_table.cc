#include "core/metrics/metric_table.h"

#include <array>

namespace cableway {
namespace {

using Kind = MetricKind;

constexpr std::array<MetricFamily, kMetrics> kFamilies{{
    {Metric::kBuildInfo, "cableway_build_info", Kind::kGauge, "version", "1; the version of cablewayd"},
    {Metric::kNodeInfo, "cableway_node_info", Kind::kGauge, "node,cluster",
     "1; the names of this node and its cluster"},
    {Metric::kDraining, "cableway_draining", Kind::kGauge, "", "1 while no paths lead through this node, else 0"},
    {Metric::kNodes, "cableway_nodes", Kind::kGauge, "",
     "nodes of the topology that have advertised themselves, this one included"},
    {Metric::kTopologyCables, "cableway_topology_cables", Kind::kGauge, "",
     "cables of the topology, those out of use included"},
    {Metric::kCablesUp, "cableway_cables_up", Kind::kGauge, "", "cables of this node that are up"},
    {Metric::kSessions, "cableway_sessions", Kind::kGauge, "", "sessions of processes of this host"},
    {Metric::kProblems, "cableway_problems", Kind::kGauge, "", "present problems"},
    {Metric::kProblem, "cableway_problem", Kind::kGauge, "code,severity",
     "present problems of one code; no sample: none"},
    {Metric::kEvents, "cableway_events_total", Kind::kCounter, "code,severity", "events since the node started"},
    {Metric::kPortCarrier, "cableway_port_carrier", Kind::kGauge, "interface", "1 while the port has a link, else 0"},
    {Metric::kPortSpeed, "cableway_port_speed_bytes_per_second", Kind::kGauge, "interface",
     "what the port can carry in each direction; no sample: unknown"},
    {Metric::kPortCables, "cableway_port_cables_up", Kind::kGauge, "interface", "cables of the port that are up"},
    {Metric::kPortBytes, "cableway_port_bytes_total", Kind::kCounter, "interface,direction",
     "bytes of the interface, as the kernel counts them: all programs, none over RDMA"},
    {Metric::kPortRdmaBytes, "cableway_port_rdma_bytes_total", Kind::kCounter, "interface,direction",
     "bytes of the port's RDMA device, as it counts them: all programs; no sample: not known"},
    {Metric::kPortPackets, "cableway_port_packets_total", Kind::kCounter, "interface,direction",
     "packets of the interface"},
    {Metric::kPortErrors, "cableway_port_errors_total", Kind::kCounter, "interface,direction",
     "packets with errors of the interface"},
    {Metric::kPortDrops, "cableway_port_drops_total", Kind::kCounter, "interface,direction",
     "packets that the interface dropped"},
    {Metric::kCableUp, "cableway_cable_up", Kind::kGauge, "cable,interface,neighbour",
     "1 while the cable is up, 0 while its neighbour is heard and it cannot be used; no sample: not heard"},
    {Metric::kCableLatency, "cableway_cable_latency_seconds", Kind::kGauge, "cable,interface,neighbour",
     "latency one way, as measured; no sample: not yet known"},
    {Metric::kCableLoss, "cableway_cable_loss_ratio", Kind::kGauge, "cable,interface,neighbour",
     "share of packets that the cable loses in its worse direction; 0: negligible"},
    {Metric::kCablesLeftOut, "cableway_cables_left_out", Kind::kGauge, "",
     "cables without samples of their own, as there are more than 256"},
    {Metric::kControlDatagrams, "cableway_control_datagrams_total", Kind::kCounter, "interface,direction",
     "control datagrams of the port"},
    {Metric::kControlDropped, "cableway_control_datagrams_dropped_total", Kind::kCounter, "interface,reason",
     "control datagrams that the port dropped"},
    {Metric::kControlErrors, "cableway_control_send_errors_total", Kind::kCounter, "interface",
     "control datagrams that the kernel refused to send"},
    {Metric::kHellosDropped, "cableway_control_messages_dropped_total", Kind::kCounter, "reason",
     "control messages dropped after they were read"},
    {Metric::kAdvertisements, "cableway_advertisements_received_total", Kind::kCounter, "",
     "advertisements that neighbours have flooded to this node"},
    {Metric::kAdvertisementsIgnored, "cableway_advertisements_ignored_total", Kind::kCounter, "reason",
     "of these, the ones that changed nothing"},
    {Metric::kAdvertisementsOwn, "cableway_advertisements_originated_total", Kind::kCounter, "",
     "advertisements that this node has made"},
    {Metric::kSegmentsAgain, "cableway_flooding_segments_retransmitted_total", Kind::kCounter, "",
     "segments of flooding that were sent again"},
    {Metric::kFlowsOpen, "cableway_flows_open", Kind::kGauge, "",
     "open flows of processes of this host, both directions"},
    {Metric::kFlowsWaiting, "cableway_flows_waiting", Kind::kGauge, "",
     "listed flows whose application waits for a path"},
    {Metric::kFlowsOpened, "cableway_flows_opened_total", Kind::kCounter, "",
     "flows that processes of this host have opened"},
    {Metric::kFlowsFailed, "cableway_flows_failed_total", Kind::kCounter, "", "flows of this host that have failed"},
    {Metric::kFlowRate, "cableway_flow_rate_bytes_per_second", Kind::kGauge, "direction",
     "payload of the listed flows in the last reported second"},
    {Metric::kFlowsLeftOut, "cableway_flows_left_out", Kind::kGauge, "",
     "open flows that are only counted, as there are more than 4,096"},
    {Metric::kReroutes, "cableway_flow_reroutes_total", Kind::kCounter, "",
     "times that a flow of this host took another path after a fault"},
    {Metric::kCircuitsRetired, "cableway_flow_circuits_retired_total", Kind::kCounter, "kind",
     "circuits that ended while their flow continued"},
    {Metric::kBytesAgain, "cableway_flow_bytes_sent_again_total", Kind::kCounter, "",
     "payload that flows of this host sent again over other circuits"},
    {Metric::kRelayBytes, "cableway_relay_bytes_total", Kind::kCounter, "", "payload relayed for other nodes"},
    {Metric::kRelayChunks, "cableway_relay_chunks_total", Kind::kCounter, "", "chunks relayed for other nodes"},
    {Metric::kRelayCircuits, "cableway_relay_circuits_open", Kind::kGauge, "", "circuits that pass through this node"},
    {Metric::kRelayOpened, "cableway_relay_circuits_opened_total", Kind::kCounter, "",
     "circuits through this node that were opened"},
    {Metric::kRelayBroken, "cableway_relay_circuits_broken_total", Kind::kCounter, "",
     "circuits through this node that ended by a fault or with a chunk in flight"},
    {Metric::kRelayRefused, "cableway_relay_setups_refused_total", Kind::kCounter, "",
     "set-ups of circuits through this node that were refused"},
    {Metric::kRelayMax, "cableway_relay_circuits_max", Kind::kGauge, "",
     "circuits that the memory for relaying allows"},
    {Metric::kRelayMemoryMax, "cableway_relay_memory_limit_bytes", Kind::kGauge, "", "the setting relay_memory"},
    {Metric::kRelayMemory, "cableway_relay_memory_bytes", Kind::kGauge, "transport,part",
     "memory of relayed circuits: of their floors, and leased"},
    {Metric::kLeases, "cableway_relay_leases", Kind::kGauge, "transport", "slots that relayed circuits can lease"},
    {Metric::kLeased, "cableway_relay_leases_used", Kind::kGauge, "transport", "of these, the ones leased now"},
    {Metric::kLeaseWaits, "cableway_relay_lease_waits_total", Kind::kCounter, "transport",
     "times that a circuit needed a lease and none was free"},
    {Metric::kCpu, "process_cpu_seconds_total", Kind::kCounter, "", "processor time of cablewayd, all threads"},
    {Metric::kResident, "process_resident_memory_bytes", Kind::kGauge, "", "resident memory of cablewayd"},
    {Metric::kVirtual, "process_virtual_memory_bytes", Kind::kGauge, "", "virtual memory of cablewayd"},
    {Metric::kOpenFds, "process_open_fds", Kind::kGauge, "", "open file descriptors of cablewayd"},
    {Metric::kMaxFds, "process_max_fds", Kind::kGauge, "", "limit of open file descriptors of cablewayd"},
    {Metric::kStart, "process_start_time_seconds", Kind::kGauge, "", "when cablewayd started, in seconds since 1970"},
}};

constexpr bool families_are_in_order() {
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    if (static_cast<std::size_t>(kFamilies[i].metric) != i) return false;
  }
  return true;
}
static_assert(families_are_in_order(), "kFamilies has every metric once, in the order of Metric");

}  // namespace

std::span<const MetricFamily> metric_families() {
  return kFamilies;
}

const MetricFamily& family_of(Metric metric) {
  return kFamilies[static_cast<std::size_t>(metric)];
}

std::string_view name_of(MetricKind kind) {
  return kind == MetricKind::kCounter ? "counter" : "gauge";
}

}  // namespace cableway
