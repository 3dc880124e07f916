#include "sim/simtest/ground/node_process.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"

namespace cableway::sim {

NodeProcess::Incarnation::Incarnation(NodeProcess& process)
    : transit(process.ground_.means_of(process.node_), process, process.ground_.nodes.node(process.node_).event_sink(),
              SimtestGround::name(process.node_)),
      paths(process.ground_.clock(), process.ground_.nodes.node(process.node_).event_sink(),
            [&process](const std::string& destination, std::uint64_t ordinal, std::size_t most) {
              return process.ground_.nodes.node(process.node_).paths().paths_for_flow(destination, ordinal, most);
            }),
      door(process.ground_.clock(), process.ground_.tools, process.ground_.rules, [&process, this](ArrivedSetup setup) {
        ++process.entered_;
        transit.arrived(std::move(setup));
      }) {
  transit.seal_with(process.ground_.tools.key);
}

void NodeProcess::start() {
  incarnation_.emplace(*this);
  incarnation_->door.hold(still_);
}

void NodeProcess::stand_still(bool still) {
  if (std::exchange(still_, still) == still) return;
  host().relay->stand_still(still);
  if (incarnation_.has_value()) incarnation_->door.hold(still);
}

void NodeProcess::end() {
  if (!incarnation_.has_value()) return;
  incarnation_.reset();
  entered_ = 0;
  for (Relay& relay : relays_) {
    if (relay.forgotten) continue;
    // Its kernel closes both connections.
    relay.upstream->destination.kill_process();
    relay.downstream->source.kill_process();
    relay.circuit->circuit().fail(absl::CancelledError("the peer closed the connection"));
    forget(relay);
  }
}

void NodeProcess::topology_changed() {
  if (!incarnation_.has_value()) return;
  incarnation_->transit.topology_changed();
  incarnation_->paths.topology_changed();
}

void NodeProcess::find_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most,
                             PathWait::Answer answer) {
  incarnation_->paths.find(destination, ordinal, most, std::move(answer));
}

void NodeProcess::forget(Relay& relay) {
  host().relay->remove(*relay.circuit);
  relay.forgotten = true;
}

void NodeProcess::tend() {
  for (Relay& relay : relays_) {
    if (relay.forgotten || relay.circuit->status().ok()) continue;
    const absl::StatusCode code = relay.circuit->status().code();
    if (code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kInternal) {
      ground_.rules.broken(7, std::string(relay.circuit->status().message()));
    }
    forget(relay);
  }
}

absl::Status NodeProcess::check_transit(const CircuitSetup& setup) {
  return ground_.nodes.node(node_).paths().check_transit(setup);
}

std::size_t NodeProcess::circuits() const {
  return host().relay->circuits();
}

std::size_t NodeProcess::max_circuits() const {
  return host().refuses ? 0 : ground_.plan.max_circuits;
}

// `entered_` includes the set-up that is being refused.
absl::Status NodeProcess::no_room(std::size_t /*in_setup*/) const {
  if (!host().refuses && circuits() + entered_ - 1 < ground_.plan.max_circuits) {
    ground_.rules.broken(
        6, absl::StrCat(SimtestGround::name(node_), " refuses a circuit with ", circuits(), " relayed and ",
                        entered_ - 1, " in set-up, although it has room for ", ground_.plan.max_circuits));
  }
  return absl::ResourceExhaustedError(absl::StrCat("node ", SimtestGround::name(node_), kNoRoom));
}

absl::StatusOr<std::unique_ptr<Slot>> NodeProcess::make_floor(const TransportEnd& upstream,
                                                              const TransportEnd& downstream) {
  return store_between(upstream, downstream).make_floor(sim_end(upstream), sim_end(downstream));
}

absl::Status NodeProcess::relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                                std::unique_ptr<Slot> floor) {
  --entered_;
  if (circuits() >= ground_.plan.max_circuits) {
    ground_.rules.broken(6, absl::StrCat(SimtestGround::name(node_), " relays more circuits than its limit"));
  }
  RelayNames names{to_text(accepting_end(setup, setup.hop)), to_text(dialing_end(setup, setup.hop + 1U))};
  PlantHop& from = take_hop(std::move(upstream.connection));
  PlantHop& to = take_hop(std::move(downstream.connection));
  SlotPool& pool = store_between(*upstream.transport.end, *downstream.transport.end).pool();
  std::unique_ptr<RelayedCircuit> circuit = host().relay->add(
      from.destination_end().link, to.source_end().link, std::move(floor), pool, std::move(names),
      {[&clock = ground_.clock()] { return clock.now(); },
       EgressPort(*host().stamps, dialing_end(setup, setup.hop + 1U).port), setup.share == CircuitShare::kAlternate});
  from.destination.set(circuit.get());
  to.source.set(circuit.get());
  circuit->wake();
  relays_.push_back(Relay{std::move(circuit), &from, &to, false});
  return absl::OkStatus();
}

void NodeProcess::refused(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) {
  --entered_;
}

void NodeProcess::lost(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) {
  --entered_;
}

}  // namespace cableway::sim
