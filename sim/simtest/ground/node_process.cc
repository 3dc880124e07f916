#include "sim/simtest/ground/node_process.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "core/flow/chunk_link.h"

namespace cableway::sim {

NodeProcess::Incarnation::Incarnation(NodeProcess& process)
    : transit(process.ground_.means_of(process.node_), process, process.ground_.nodes.node(process.node_).event_sink(),
              SimtestGround::name(process.node_)),
      paths(process.ground_.clock(), process.ground_.nodes.node(process.node_).event_sink(),
            [&process](const std::string& destination, std::uint64_t ordinal, std::size_t most) {
              return process.ground_.nodes.node(process.node_).paths().paths_for_flow(destination, ordinal, most);
            }),
      door(process.node_, process.ground_.clock(), process.ground_.tools, process.ground_.rules,
           [&process, this](ArrivedSetup setup) {
             ++process.entered_;
             transit.arrived(std::move(setup));
           }) {
  transit.seal_with(process.ground_.tools.keys_of(process.node_).sealing());
}

void NodeProcess::start() {
  incarnation_.emplace(*this);
  ground_.nodes.node(node_).tell_ports({kApplicationPort});
  incarnation_->door.hold(still_);
  if (ground_.plan.pulse == std::chrono::milliseconds{0}) return;
  incarnation_->pulses.emplace(
      ground_, node_,
      CableVerdicts::Listener{[this](const PortLost& lost) { lose_port(lost); }, [this] { cable_usable(); }});
  incarnation_->pulses->stand_still(still_);
  carriers_.clear();
  lose_carriers();
}

void NodeProcess::stand_still(bool still) {
  if (std::exchange(still_, still) == still) return;
  host().relay->stand_still(still);
  if (!incarnation_.has_value()) return;
  incarnation_->door.hold(still);
  if (!incarnation_->pulses.has_value()) return;
  incarnation_->pulses->stand_still(still);
  if (!still) lose_carriers();
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
    relay.circuit->circuit().fail(absl::CancelledError(kPeerClosed));
    forget(relay);
  }
}

void NodeProcess::topology_changed() {
  if (!incarnation_.has_value()) return;
  incarnation_->transit.topology_changed();
  incarnation_->paths.topology_changed();
  if (incarnation_->pulses.has_value()) incarnation_->pulses->update();
}

void NodeProcess::ports_changed() {
  if (!incarnation_.has_value() || !incarnation_->pulses.has_value()) return;
  if (!still_) lose_carriers();
  incarnation_->pulses->update();
}

// Without pulses, nodes do not report lost carriers either: connections find the loss themselves.
void NodeProcess::lose_carriers() {
  std::set<PortId> carriers;
  std::vector<std::string> lost;
  for (const PortFacts& port : ground_.nodes.fabric().ports_of(node_).ports()) {
    if (port.carrier) {
      carriers.insert(port.id);
    } else if (carriers_.contains(port.id)) {
      lost.push_back(port.interface);
    }
  }
  carriers_ = std::move(carriers);
  for (const std::string& interface : lost) lose_port({interface, "the port has lost its carrier", false, "", false});
}

// In the order of NodeService::on_port_lost() and RelayService::lose_port().
void NodeProcess::lose_port(const PortLost& lost) {
  incarnation_->transit.lose_port(lost);
  for (Relay& relay : relays_) {
    if (relay.forgotten || !relay.circuit->status().ok()) continue;
    const bool upstream = is_over(relay.upstream_end, lost);
    if (!upstream && !is_over(relay.downstream_end, lost)) continue;
    relay.circuit->circuit().fail(
        found_at(to_text(upstream ? relay.upstream_end : relay.downstream_end), absl::UnavailableError(lost.reason)));
    forget(relay);
  }
  ground_.told.lost(node_, lost);
}

void NodeProcess::cable_unfit(const PortLost& lost) {
  if (incarnation_.has_value()) lose_port(lost);
}

void NodeProcess::cable_usable() {
  incarnation_->paths.topology_changed();
  incarnation_->transit.topology_changed();
  ground_.told.paths_changed(node_);
}

bool NodeProcess::relays_over(const PortLost& cable) const {
  return std::any_of(relays_.begin(), relays_.end(), [&](const Relay& relay) {
    const bool is_live = !relay.forgotten && relay.circuit->status().ok();
    return is_live && (is_over(relay.upstream_end, cable) || is_over(relay.downstream_end, cable));
  });
}

void NodeProcess::find_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most,
                             PathWait::Answer answer) {
  incarnation_->paths.find(destination, ordinal, most, 0, std::move(answer));
}

absl::StatusOr<std::vector<PathOffer>> NodeProcess::find_inquiry_paths(const std::string& destination,
                                                                       std::uint64_t ordinal, std::size_t most) const {
  return ground_.nodes.node(node_).paths().paths_for_inquiry(destination, ordinal, most);
}

void NodeProcess::forget(Relay& relay) {
  host().relay->remove(*relay.circuit);
  relay.forgotten = true;
  if (incarnation_.has_value()) incarnation_->transit.circuit_ended(relay.setup);
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
  return ground_.nodes.node(node_).check_transit(setup);
}

ShareHolder NodeProcess::neighbour_at(const SetupConnection& connection) const {
  return ground_.nodes.node(node_).neighbour_at(connection.own_address(), connection.other_address());
}

std::set<ShareHolder> NodeProcess::neighbours() const {
  return ground_.nodes.node(node_).share_holders();
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
  const HopEnd upstream_end = accepting_end(setup, setup.hop);
  const HopEnd downstream_end = dialing_end(setup, setup.hop + 1U);
  RelayNames names{to_text(upstream_end), to_text(downstream_end), setup.hop == 0};
  PlantHop& from = take_hop(std::move(upstream.connection));
  PlantHop& to = take_hop(std::move(downstream.connection));
  SlotPool& pool = store_between(*upstream.transport.end, *downstream.transport.end).pool();
  const bool is_alternate = setup.share == CircuitShare::kAlternate;
  Relay relay;
  relay.upstream = &from;
  relay.downstream = &to;
  relay.upstream_end = upstream_end;
  relay.downstream_end = downstream_end;
  relay.setup = setup;
  relay.competes = std::make_unique<bool>(!is_alternate);
  bool& competes = *relay.competes;
  relay.upstream_link =
      std::make_unique<WatchedLink>(from.destination_end().link, [is_alternate, &competes](const Frame& frame) {
        if (is_alternate && frame.kind == FrameKind::kAnnounce) competes = frame.offset == 0;
      });
  const PortShares::Place port{node_, downstream_end.port};
  const std::uint64_t number = relays_.size();
  relay.downstream_link =
      std::make_unique<WatchedLink>(to.source_end().link, [this, port, number, &competes](const Frame& frame) {
        if (frame.kind == FrameKind::kChunk) ground_.port_shares.relay_puts(port, number, competes, frame.payload);
      });
  relay.circuit =
      host().relay->add(*relay.upstream_link, *relay.downstream_link, std::move(floor), pool, std::move(names),
                        {&ground_.clock().present(), EgressPort(*host().stamps, downstream_end.port), is_alternate});
  from.destination.set(relay.circuit.get());
  to.source.set(relay.circuit.get());
  relay.circuit->wake();
  relays_.push_back(std::move(relay));
  return absl::OkStatus();
}

void NodeProcess::refused(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) {
  --entered_;
}

void NodeProcess::lost(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) {
  --entered_;
}

}  // namespace cableway::sim
