#include "sim/simtest/ground/cable_plant.h"

#include <algorithm>
#include <utility>

#include "routing/topology/port_address.h"
#include "sim/simtest/ground/connection_mover.h"

namespace cableway::sim {
namespace {

constexpr double kLocalBytesPerSecond = 1e10;
constexpr std::chrono::microseconds kArrivesWithin{200};  // an idle cable's frame without payload
constexpr Duration kMaxApart = std::chrono::milliseconds(20);

// A delay that is a function of the hop and differs between hops.
Duration spread(const PlantHop& hop, Duration most) {
  const std::uint64_t number = (hop.segment * 7919 + hop.silences * 104729) * 1'000'003;
  return Duration(static_cast<Duration::rep>(number % static_cast<std::uint64_t>(most.count())));
}

bool source_is_first(const PlantHop& hop) {
  return (hop.segment + hop.silences) % 2 == 0;
}

std::optional<CutOn::Kind> watched_kind(FrameKind kind) {
  switch (kind) {
    case FrameKind::kAnnounce:
      return CutOn::kAnnounce;
    case FrameKind::kAck:
      return CutOn::kAck;
    case FrameKind::kLanded:
      return CutOn::kLanded;
    case FrameKind::kRetire:
      return CutOn::kRetire;
    case FrameKind::kRetired:
      return CutOn::kRetired;
    default:
      return std::nullopt;
  }
}

// Cuts one end without waking its user.
void cut_quietly(PlantHop& hop, bool source, const absl::Status& reason) {
  (source ? hop.connection->source() : hop.connection->destination()).cut(reason);
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
      flips_(fabric.segment_count(), 0) {
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
  return HopDirection::Stages{&transmitter(end), &use_};
}

PlantHop& CablePlant::add_hop(const HopDirection::Stages& forward, const HopDirection::Stages& back) {
  WireFacts wire;
  wire.latency = facts_.latency;
  wire.window_bytes = facts_.window_bytes;
  PlantHop& hop = hops_.emplace_back();
  hop.connection = std::make_unique<CableHop>(clock_, wire, forward, back, Payload::kCarried);
  hop.connection->set_users(hop.source, hop.destination);
  hop.sends = [this, &hop](const Frame& frame) {
    if (const std::optional<CutOn::Kind> watched = watched_kind(frame.kind)) passes(hop.segment, *watched);
  };
  hop.mover = std::make_unique<ConnectionMover>(*hop.connection, hop.source, hop.destination);
  return hop;
}

bool CablePlant::held_setup_since(CableFabric::SegmentNumber segment, Instant since) const {
  return std::any_of(hops_.begin(), hops_.end(), [&](const PlantHop& hop) {
    return hop.segment == segment && hop.setup_held_at.has_value() && *hop.setup_held_at >= since;
  });
}

PlantHop& CablePlant::make_local_hop(CableFabric::NodeNumber node) {
  while (locals_.size() <= node) locals_.push_back(std::make_unique<Transmitter>(clock_, kLocalBytesPerSecond));
  const HopDirection::Stages local{locals_[node].get(), &use_};
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
  hop.mover->complete_late(late_[from.segment]);
  hop.connection->forward().flip_every(flips_[from.segment]);
  update(hop);
  passes(hop.segment, CutOn::kSetup);
  return hop;
}

void CablePlant::set_mover(PlantHop& hop, std::unique_ptr<HopMover> mover) {
  hop.mover = std::move(mover);
  hop.mover->complete_late(late_[hop.segment]);
  update(hop);
}

void CablePlant::update(PlantHop& hop) {
  if (hop.segment == kLocal || hop.lost) return;
  // Data consists of large packets.
  const bool forward = fabric_.carries_full_size(hop.segment, hop.from_end);
  const bool back = fabric_.carries_full_size(hop.segment, hop.to_end);
  hop.connection->forward().hold(!forward);
  hop.connection->back().hold(!back);
  hop.mover->hold(!forward, !back);
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
    if (hop.segment == segment) end_connection(hop, reason);
  }
}

void CablePlant::end_all_on(CableFabric::SegmentNumber segment, const CutOn& frame, Instant until,
                            const absl::Status& reason) {
  ambushes_.push_back({segment, frame, frame.arrives(), until, reason});
}

// Called from inside the sender's work, so what follows comes later.
void CablePlant::passes(CableFabric::SegmentNumber segment, CutOn::Kind frame) {
  std::erase_if(ambushes_, [&](Ambush& ambush) {
    if (ambush.until <= clock_.now()) return true;
    if (ambush.segment != segment || ambush.frame.kind != frame) return false;
    if (ambush.frame.others-- > 0) return false;
    ++sprung_;
    const Duration after = ambush.arrives ? kArrivesWithin : Duration{0};
    clock_.post_at(clock_.now() + after, [this, segment, reason = ambush.reason] { end_all(segment, reason); });
    return true;
  });
}

void CablePlant::end_connection(PlantHop& hop, const absl::Status& reason) {
  if (hop.mover->outlives_connection()) return end_apart(hop, reason);
  hop.connection->silence();
  cut_end(hop, true, reason);
  cut_end(hop, false, reason);
}

// Data may move for a while after the connection ends, so each end is notified at its own time.
void CablePlant::end_apart(PlantHop& hop, const absl::Status& reason) {
  hop.connection->silence();
  const bool source_first = source_is_first(hop);
  cut_end(hop, source_first, reason);
  clock_.post_at(clock_.now() + spread(hop, kMaxApart),
                 [&hop, source_first, reason] { cut_end(hop, !source_first, reason); });
}

void CablePlant::complete_late(CableFabric::SegmentNumber segment, Duration by) {
  late_[segment] = by;
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) hop.mover->complete_late(by);
  }
}

void CablePlant::flip_every(CableFabric::SegmentNumber segment, std::uint64_t chunks) {
  flips_[segment] = chunks;
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) hop.connection->forward().flip_every(chunks);
  }
}

void CablePlant::fail_next_sends(CableFabric::SegmentNumber segment) {
  for (PlantHop& hop : hops_) {
    if (hop.segment == segment) hop.mover->fail_next_send();
  }
}

void CablePlant::lose(CableFabric::NodeNumber node) {
  for (PlantHop& hop : hops_) {
    if (hop.from != node && hop.to != node) continue;
    hop.connection->silence();
    hop.mover->hold(true, true);
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
  for (const PlantHop& hop : hops_) sum += hop.connection->forward().changed_too_early();
  return sum;
}

std::uint64_t CablePlant::least_use() const {
  Duration least = clock_.now().since_start;
  for (const auto& segment : transmitters_) {
    for (const auto& transmitter : segment) least = std::min(least, transmitter->busy());
  }
  return static_cast<std::uint64_t>(1000 * least.count() / std::max<std::int64_t>(clock_.now().since_start.count(), 1));
}

std::uint64_t CablePlant::parcels() const {
  std::uint64_t sum = 0;
  for (const auto& segment : transmitters_) {
    for (const auto& transmitter : segment) sum += transmitter->parcels();
  }
  return sum;
}

}  // namespace cableway::sim
