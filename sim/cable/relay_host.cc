#include "sim/cable/relay_host.h"

#include <algorithm>
#include <utility>

namespace cableway::sim {
namespace {

// The kinds of events that a host schedules.
constexpr std::uint64_t kRest = 0;
constexpr std::uint64_t kLook = 1;

}  // namespace

RelayedCircuit::RelayedCircuit(RelayHost& host, ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor,
                               SlotPool& pool, RelayNames names, RelayEgress egress)
    : host_(host), circuit_(upstream, downstream, std::move(floor), pool, std::move(names), std::move(egress)) {}

void RelayedCircuit::wake() {
  if (!status_.ok() || scheduled_ || host_.still_) return;
  if (host_.facts_.chunk_time == Duration{0}) return move();
  scheduled_ = true;
  host_.clock_.schedule(std::max(host_.clock_.now(), host_.free_at_), *this);
}

void RelayedCircuit::occur(std::uint64_t) {
  scheduled_ = false;
  if (!status_.ok() || host_.still_) return;
  // Other circuits of the node were scheduled for the same instant and ran first.
  if (host_.free_at_ > host_.clock_.now()) return wake();
  const std::uint64_t before = circuit_.chunks_relayed();
  move();
  host_.free_at_ = host_.clock_.now() + (circuit_.chunks_relayed() - before) * host_.facts_.chunk_time;
}

void RelayedCircuit::move() {
  for (;;) {
    const absl::StatusOr<bool> more = circuit_.progress();
    if (!more.ok()) {
      status_ = more.status();
      return;
    }
    if (!*more) break;
  }
  if (circuit_.leases() > 0) host_.rest_later();
  if (circuit_.waits_for_gate()) host_.look_later();
}

RelayHost::RelayHost(VirtualClock& clock, const RelayFacts& facts)
    : clock_(clock),
      facts_(facts),
      pool_(make_memory_slots(facts.leases, facts.slot_bytes), facts.leases_per_circuit) {}

std::unique_ptr<RelayedCircuit> RelayHost::add(ChunkLink& upstream, ChunkLink& downstream, RelayNames names,
                                               RelayEgress egress) {
  return add(upstream, downstream, make_floor(), pool_, std::move(names), std::move(egress));
}

std::unique_ptr<RelayedCircuit> RelayHost::add(ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor,
                                               SlotPool& pool, RelayNames names, RelayEgress egress) {
  auto circuit = std::make_unique<RelayedCircuit>(*this, upstream, downstream, std::move(floor), pool, std::move(names),
                                                  std::move(egress));
  circuits_.push_back(circuit.get());
  max_circuits_ = std::max(max_circuits_, circuits_.size());
  return circuit;
}

void RelayHost::remove(RelayedCircuit& circuit) {
  std::erase(circuits_, &circuit);
}

void RelayHost::stand_still(bool still) {
  still_ = still;
  if (still_) return;
  for (RelayedCircuit* circuit : std::vector<RelayedCircuit*>(circuits_)) circuit->wake();
}

void RelayHost::rest_later() {
  if (std::exchange(resting_, true)) return;
  clock_.schedule(clock_.now() + facts_.rest_every, *this, kRest);
}

void RelayHost::look_later() {
  if (std::exchange(looking_, true)) return;
  clock_.schedule(clock_.now() + RelayCircuit::kLookAtGate, *this, kLook);
}

void RelayHost::occur(std::uint64_t what) {
  what == kRest ? rest() : look_at_gates();
}

void RelayHost::look_at_gates() {
  looking_ = false;
  if (still_) return;
  for (RelayedCircuit* circuit : std::vector<RelayedCircuit*>(circuits_)) {
    if (!circuit->status().ok() || !circuit->circuit().waits_for_gate()) continue;
    circuit->circuit().look_at_gate();
    circuit->wake();  // which looks later if it still waits
  }
}

void RelayHost::rest() {
  resting_ = false;
  bool any_leased = false;
  for (RelayedCircuit* circuit : circuits_) {
    if (circuit->status().ok() && !still_) circuit->circuit().tick();
    any_leased = any_leased || circuit->circuit().leases() > 0;
  }
  if (any_leased) rest_later();
}

}  // namespace cableway::sim
