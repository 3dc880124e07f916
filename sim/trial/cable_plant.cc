#include "sim/trial/cable_plant.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/port_address.h"

namespace cableway::sim {
namespace {

constexpr double kLocalBytesPerSecond = 1e10;

const PortFacts* find_port(const std::vector<PortFacts>& ports, PortId id) {
  for (const PortFacts& port : ports) {
    if (port.id == id) return &port;
  }
  return nullptr;
}

}  // namespace

CablePlant::CablePlant(VirtualClock& clock, CableFabric& fabric, const Facts& facts)
    : clock_(clock), fabric_(fabric), facts_(facts), late_(fabric.segment_count(), Duration{0}) {
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

PlantHop& CablePlant::keep(PlantHop hop, const HopDirection::Stages& forward, const HopDirection::Stages& back) {
  WireFacts wire;
  wire.latency = facts_.latency;
  wire.window_bytes = facts_.window_bytes;
  hop.hop = std::make_unique<CableHop>(clock_, wire, forward, back, Payload::kCarried);
  PlantHop& kept = hops_.emplace_back(std::move(hop));
  kept.hop->set_users(kept.source, kept.destination);
  return kept;
}

PlantHop& CablePlant::make_local_hop(CableFabric::NodeNumber node) {
  while (locals_.size() <= node) locals_.push_back(std::make_unique<Transmitter>(clock_, kLocalBytesPerSecond));
  PlantHop hop;
  hop.segment = kLocal;
  hop.from = node;
  hop.to = node;
  const HopDirection::Stages local{locals_[node].get(), nullptr, &use_};
  return keep(std::move(hop), local, local);
}

PlantHop& CablePlant::make_hop(const End& from, const End& to) {
  PlantHop hop;
  hop.segment = from.segment;
  hop.from_end = from.end;
  hop.to_end = to.end;
  hop.from = fabric_.ends_of(from.segment)[from.end].first;
  hop.to = fabric_.ends_of(to.segment)[to.end].first;
  PlantHop& kept = keep(std::move(hop), stages(from), stages(to));
  kept.hop->forward().complete_late(late_[from.segment]);
  update(kept);
  return kept;
}

void CablePlant::update(PlantHop& hop) {
  if (hop.segment == kLocal || hop.lost) return;
  const bool forward = fabric_.carries(hop.segment, hop.from_end);
  const bool back = fabric_.carries(hop.segment, hop.to_end);
  hop.hop->forward().hold(!forward);
  hop.hop->back().hold(!back);
  if (forward && back) {
    hop.silent_since.reset();
  } else if (!hop.silent_since.has_value()) {
    hop.silent_since = clock_.now();
    ++hop.silences;
    give_up_later(hop);
  }
}

// Each end by itself, as each has a timer of its own.
void CablePlant::give_up_later(PlantHop& hop) {
  const auto give_up = [&hop, silence = hop.silences](bool source) {
    const bool silent_still = hop.silent_since.has_value() && hop.silences == silence;
    if (!silent_still && !hop.given_up) return;
    hop.given_up = true;
    CableLink& link = source ? hop.hop->source() : hop.hop->destination();
    link.cut(absl::UnavailableError("the cable to it, or its host, is silent"));
    source ? hop.source.wake() : hop.destination.wake();
  };
  const auto spread = static_cast<std::uint64_t>(facts_.silence_spread.count());
  const Duration late(static_cast<Duration::rep>((hop.segment * 7919 + hop.silences * 104729) * 1'000'003 % spread));
  const bool source_first = (hop.segment + hop.silences) % 2 == 0;
  const Instant soon = clock_.now() + facts_.silence_limit;
  clock_.post_at(soon, [give_up, source_first] { give_up(source_first); });
  clock_.post_at(soon + late, [give_up, source_first] { give_up(!source_first); });
}

void CablePlant::look_at(CableFabric::SegmentNumber segment) {
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) update(hop);
  }
}

void CablePlant::end_all(CableFabric::SegmentNumber segment, const absl::Status& reason) {
  for (PlantHop& hop : hops_) {
    if (hop.segment != segment) continue;
    hop.hop->cut(reason);
    hop.source.wake();
    hop.destination.wake();
  }
}

void CablePlant::complete_late(CableFabric::SegmentNumber segment, Duration by) {
  late_[segment] = by;
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) hop.hop->forward().complete_late(by);
  }
}

void CablePlant::fail_next_sends(CableFabric::SegmentNumber segment) {
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) hop.hop->forward().fail_next_send();
  }
}

void CablePlant::lose(CableFabric::NodeNumber node) {
  for (PlantHop& hop : hops_) {
    if (hop.from != node && hop.to != node) continue;
    hop.hop->silence();
    hop.lost = true;
    if (hop.from == node) hop.hop->source().cut(absl::UnavailableError("its host is off"));
    if (hop.to == node) hop.hop->destination().cut(absl::UnavailableError("its host is off"));
    if (hop.from == hop.to || hop.silent_since.has_value()) continue;
    hop.silent_since = clock_.now();
    ++hop.silences;
    give_up_later(hop);
  }
}

std::uint64_t CablePlant::changed_too_early() const {
  std::uint64_t sum = 0;
  for (const PlantHop& hop : hops_) sum += hop.hop->forward().changed_too_early();
  return sum;
}

std::uint64_t CablePlant::parcels() const {
  std::uint64_t sum = 0;
  for (const auto& segment : transmitters_) {
    for (const auto& transmitter : segment) sum += transmitter->parcels();
  }
  return sum;
}

}  // namespace cableway::sim
