#include "sim/simtest/ground/cable_plant.h"

#include <utility>

#include "routing/topology/port_address.h"

namespace cableway::sim {
namespace {

constexpr double kLocalBytesPerSecond = 1e10;
constexpr Duration kMaxApart = std::chrono::milliseconds(20);

// A delay that is a function of the hop and differs between hops.
Duration spread(const PlantHop& hop, Duration most) {
  const std::uint64_t number = (hop.segment * 7919 + hop.silences * 104729) * 1'000'003;
  return Duration(static_cast<Duration::rep>(number % static_cast<std::uint64_t>(most.count())));
}

bool source_is_first(const PlantHop& hop) {
  return (hop.segment + hop.silences) % 2 == 0;
}

// Cuts one end without waking its user.
void cut_quietly(PlantHop& hop, bool source, const absl::Status& reason) {
  (source ? hop.hop->source() : hop.hop->destination()).cut(reason);
  if (const auto setup = hop.setup.lock()) setup->cut(source ? SetupWire::kDialer : SetupWire::kAcceptor, reason);
}

void cut_end(PlantHop& hop, bool source, const absl::Status& reason) {
  cut_quietly(hop, source, reason);
  (source ? hop.source : hop.destination).wake();
}

const PortFacts* find_port(const std::vector<PortFacts>& ports, PortId id) {
  for (const PortFacts& port : ports) {
    if (port.id == id) return &port;
  }
  return nullptr;
}

}  // namespace

CablePlant::CablePlant(VirtualClock& clock, CableFabric& fabric, const Facts& facts)
    : clock_(clock),
      fabric_(fabric),
      facts_(facts),
      late_(fabric.segment_count(), Duration{0}),
      rdma_ports_(facts.stub) {
  transmitters_.resize(fabric.segment_count());
  for (CableFabric::SegmentNumber segment = 0; segment < fabric.segment_count(); ++segment) {
    const auto& ends = fabric.ends_of(segment);
    for (std::size_t end = 0; end < ends.size(); ++end) {
      transmitters_[segment].push_back(std::make_unique<Transmitter>(clock, facts.bytes_per_second));
      const std::vector<PortFacts> ports = fabric.ports_of(ends[end].first).ports();
      for (const PortPrefix& prefix : find_port(ports, ends[end].second)->addresses) {
        ends_[routing::to_text(prefix.address)] = End{segment, end};
      }
    }
  }
}

std::optional<CablePlant::End> CablePlant::find(const std::string& address) const {
  const auto end = ends_.find(address);
  return end == ends_.end() ? std::nullopt : std::optional(end->second);
}

bool CablePlant::connects(const End& from, const End& to) const {
  const auto& ends = fabric_.ends_of(from.segment);
  return from.segment == to.segment && from.end != to.end && fabric_.carries(from.segment, from.end) &&
         fabric_.carries(to.segment, to.end) && !fabric_.is_off(ends[from.end].first) &&
         !fabric_.is_off(ends[to.end].first);
}

HopDirection::Stages CablePlant::stages(const End& end) {
  return HopDirection::Stages{transmitters_[end.segment][end.end].get(), nullptr, &use_};
}

PlantHop& CablePlant::add_hop(const HopDirection::Stages& forward, const HopDirection::Stages& back) {
  WireFacts wire;
  wire.latency = facts_.latency;
  wire.window_bytes = facts_.window_bytes;
  PlantHop& hop = hops_.emplace_back();
  hop.hop = std::make_unique<CableHop>(clock_, wire, forward, back, Payload::kCarried);
  hop.hop->set_users(hop.source, hop.destination);
  return hop;
}

PlantHop& CablePlant::make_local_hop(CableFabric::NodeNumber node) {
  while (locals_.size() <= node) locals_.push_back(std::make_unique<Transmitter>(clock_, kLocalBytesPerSecond));
  const HopDirection::Stages local{locals_[node].get(), nullptr, &use_};
  PlantHop& hop = add_hop(local, local);
  hop.segment = kLocal;
  hop.from = node;
  hop.to = node;
  return hop;
}

PlantHop& CablePlant::make_hop(const End& from, const End& to) {
  PlantHop& hop = add_hop(stages(from), stages(to));
  hop.segment = from.segment;
  hop.from_end = from.end;
  hop.to_end = to.end;
  hop.from = node_of(from);
  hop.to = node_of(to);
  hop.hop->forward().complete_late(late_[from.segment]);
  update(hop);
  return hop;
}

void CablePlant::add_rdma(const End& end) {
  rdma_ports_.add(end.segment, end.end, fabric_.ends_of(end.segment)[end.end].first);
}

absl::StatusOr<RdmaEndpoint> CablePlant::join(PlantHop& hop, StubQueuePair& offered, bool last_hop) {
  RdmaWire::Facts wire = facts_.rdma;
  wire.latency = facts_.latency;
  const auto& transmitters = transmitters_[hop.segment];
  hop.rdma = std::make_unique<RdmaHop>(
      clock_, rdma_ports_.network(), wire, *transmitters[hop.from_end], *transmitters[hop.to_end], offered,
      RdmaHop::End{*rdma_ports_.find(hop.segment, hop.from_end), hop.hop->source(), hop.source},
      RdmaHop::End{*rdma_ports_.find(hop.segment, hop.to_end), hop.hop->destination(), hop.destination});
  hop.rdma->complete_late(late_[hop.segment]);
  update(hop);
  return hop.rdma->join(last_hop);
}

absl::Status CablePlant::settle(PlantHop& hop, std::unique_ptr<StubQueuePair> offered, const RdmaEndpoint& answered) {
  ++rdma_hops_;
  return hop.rdma->settle(std::move(offered), answered);
}

void CablePlant::update(PlantHop& hop) {
  if (hop.segment == kLocal || hop.lost) return;
  const bool forward = fabric_.carries(hop.segment, hop.from_end);
  const bool back = fabric_.carries(hop.segment, hop.to_end);
  hop.hop->forward().hold(!forward);
  hop.hop->back().hold(!back);
  if (hop.rdma != nullptr) hop.rdma->hold(!forward, !back);
  if (forward && back) {
    hop.silent_since.reset();
  } else if (!hop.silent_since.has_value()) {
    hop.silent_since = clock_.now();
    ++hop.silences;
    give_up_later(hop);
  }
}

// Each end separately, as each has its own timer.
void CablePlant::give_up_later(PlantHop& hop) {
  const auto give_up = [&hop, silence = hop.silences](bool source) {
    const bool silent_still = hop.silent_since.has_value() && hop.silences == silence;
    if (!silent_still && !hop.given_up) return;
    hop.given_up = true;
    cut_end(hop, source, absl::UnavailableError("the cable to it, or its host, is silent"));
  };
  const Duration late = spread(hop, facts_.silence_spread);
  const bool source_first = source_is_first(hop);
  const Instant soon = clock_.now() + facts_.silence_limit;
  clock_.post_at(soon, [give_up, source_first] { give_up(source_first); });
  clock_.post_at(soon + late, [give_up, source_first] { give_up(!source_first); });
}

void CablePlant::segment_changed(CableFabric::SegmentNumber segment) {
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) update(hop);
  }
}

void CablePlant::end_all(CableFabric::SegmentNumber segment, const absl::Status& reason) {
  for (PlantHop& hop : hops_) {
    if (hop.segment != segment) continue;
    if (hop.rdma != nullptr) {
      end_apart(hop, reason);
      continue;
    }
    hop.hop->silence();
    cut_end(hop, true, reason);
    cut_end(hop, false, reason);
  }
}

// RDMA traffic may continue for a while after the connection ends, so each end is notified at its own time.
void CablePlant::end_apart(PlantHop& hop, const absl::Status& reason) {
  hop.hop->silence();
  const bool source_first = source_is_first(hop);
  cut_end(hop, source_first, reason);
  clock_.post_at(clock_.now() + spread(hop, kMaxApart),
                 [&hop, source_first, reason] { cut_end(hop, !source_first, reason); });
}

void CablePlant::complete_late(CableFabric::SegmentNumber segment, Duration by) {
  late_[segment] = by;
  for (PlantHop& hop : hops_) {
    if (hop.segment != segment) continue;
    hop.hop->forward().complete_late(by);
    if (hop.rdma != nullptr) hop.rdma->complete_late(by);
  }
}

void CablePlant::fail_next_sends(CableFabric::SegmentNumber segment) {
  for (PlantHop& hop : hops_) {
    if (hop.segment != segment) continue;
    hop.rdma != nullptr ? hop.rdma->fail_next_write() : hop.hop->forward().fail_next_send();
  }
}

void CablePlant::lose(CableFabric::NodeNumber node) {
  for (PlantHop& hop : hops_) {
    if (hop.from != node && hop.to != node) continue;
    hop.hop->silence();
    if (hop.rdma != nullptr) hop.rdma->hold(true, true);
    hop.lost = true;
    if (hop.from == node) cut_quietly(hop, true, absl::UnavailableError("its host is off"));
    if (hop.to == node) cut_quietly(hop, false, absl::UnavailableError("its host is off"));
    if (hop.from == hop.to || hop.silent_since.has_value()) continue;
    hop.silent_since = clock_.now();
    ++hop.silences;
    give_up_later(hop);
  }
}

std::uint64_t CablePlant::changed_too_early() const {
  std::uint64_t sum = 0;
  for (const PlantHop& hop : hops_) sum += hop.hop->forward().changed_too_early();
  return sum + rdma_ports_.network().changed_too_early();
}

std::uint64_t CablePlant::parcels() const {
  std::uint64_t sum = 0;
  for (const auto& segment : transmitters_) {
    for (const auto& transmitter : segment) sum += transmitter->parcels();
  }
  return sum;
}

}  // namespace cableway::sim
