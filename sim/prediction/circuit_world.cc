#include "sim/prediction/circuit_world.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "sim/cable/cable_latency.h"
#include "sim/cable/rate.h"

namespace cableway::sim {

CircuitWorld::CircuitWorld(VirtualClock& clock, const routing::Topology& topology, const CircuitOptions& options)
    : clock_(clock),
      topology_(topology),
      options_(options),
      physical_(routing::physical_cables(topology)),
      uses_(2 * topology.cable_count()) {
  RelayFacts relay = options_.relay;
  relay.slot_bytes = options_.payload == Payload::kCarried ? options_.chunk_bytes : 0;
  relays_.reserve(topology.node_count());
  for (std::size_t i = 0; i < topology.node_count(); ++i) {
    relays_.push_back(std::make_unique<RelayHost>(clock_, relay));
    locals_.push_back(std::make_unique<Transmitter>(clock_, options_.local_bytes_per_second));
    if (has_shares()) stamps_.push_back(std::make_unique<PortStampPage>());
  }
  make_transmitters();
}

void CircuitWorld::make_transmitters() {
  const auto add_both = [this](std::vector<std::unique_ptr<Transmitter>>& list, std::uint64_t mbps) {
    list.push_back(std::make_unique<Transmitter>(clock_, bytes_per_second(mbps)));
    list.push_back(std::make_unique<Transmitter>(clock_, bytes_per_second(mbps)));
  };
  cables_.resize(2 * topology_.cable_count());
  for (const routing::PhysicalCable& wire : physical_.cables) {
    if (wire.cables.size() == 1) continue;
    for (const routing::CableIndex cable : wire.cables) {
      const double rate = bytes_per_second(topology_.cable(cable).rate_mbps);
      for (const bool from_a : {true, false}) {
        cables_[place(cable, from_a)] = std::make_unique<Transmitter>(clock_, rate);
      }
    }
  }
  for (const routing::PhysicalCable& wire : physical_.cables) add_both(wires_, wire.rate_mbps);
  for (const routing::SharedConnector& connector : physical_.connectors) add_both(connectors_, connector.rate_mbps);
  for (const routing::SharedRoot& root : physical_.roots) add_both(roots_, root.rate_mbps);
}

// From the processor to the wire. Omits a stage if all its traffic also passes one that is no faster, so that a chunk
// does not wait twice.
std::vector<Transmitter*> CircuitWorld::sending_stages(routing::CableIndex cable, bool from_a) {
  const std::size_t wire_place = physical_.place_of_cable[cable.value];
  const routing::PhysicalCable& wire = physical_.cables[wire_place];
  const routing::CableRoots& roots = physical_.roots_of_cable[cable.value];
  std::vector<Transmitter*> stages;
  if (const auto& connector = from_a ? wire.shared_at_a : wire.shared_at_b) {
    stages.push_back(connectors_[2 * *connector].get());
  }
  const auto is_slower = [&](const Transmitter& stage) {
    return std::all_of(stages.begin(), stages.end(),
                       [&](const Transmitter* kept) { return stage.bytes_per_second() < kept->bytes_per_second(); });
  };
  std::uint64_t sum_mbps = 0;
  for (const routing::CableIndex each : wire.cables) sum_mbps += topology_.cable(each).rate_mbps;
  Transmitter& shared = *wires_[2 * wire_place + (from_a ? 0 : 1)];
  if (wire.rate_mbps < sum_mbps && is_slower(shared)) stages.push_back(&shared);
  if (const auto& root = from_a ? roots.at_a : roots.at_b) stages.insert(stages.begin(), roots_[2 * *root].get());
  Transmitter& own = wire.cables.size() == 1 ? shared : *cables_[place(cable, from_a)];
  if (is_slower(own)) stages.push_back(&own);
  return stages;
}

HopDirection::Stages CircuitWorld::stages(routing::CableIndex cable, bool from_a) {
  const routing::PhysicalCable& wire = physical_.cables[physical_.place_of_cable[cable.value]];
  const routing::CableRoots& roots = physical_.roots_of_cable[cable.value];
  HopDirection::Stages stages;
  stages.near = sending_stages(cable, from_a);
  stages.out = stages.near.front();
  stages.near.erase(stages.near.begin());
  if (const auto& connector = from_a ? wire.shared_at_b : wire.shared_at_a) {
    stages.far.push_back(connectors_[2 * *connector + 1].get());
  }
  if (const auto& root = from_a ? roots.at_b : roots.at_a) stages.far.push_back(roots_[2 * *root + 1].get());
  stages.use = &uses_[place(cable, from_a)];
  return stages;
}

std::unique_ptr<CableHop> CircuitWorld::make_hop(routing::CableIndex cable, routing::NodeIndex from) {
  WireFacts wire = options_.wire;
  wire.latency = latency_of(topology_.cable(cable));
  const bool from_a = topology_.cable(cable).a.node == from;
  return std::make_unique<CableHop>(clock_, wire, stages(cable, from_a), stages(cable, !from_a), options_.payload);
}

std::unique_ptr<CableHop> CircuitWorld::make_local_hop(routing::NodeIndex node) {
  const HopDirection::Stages local{locals_[node.value].get(), &local_use_};
  return std::make_unique<CableHop>(clock_, options_.wire, local, local, options_.payload);
}

RoutedFlow& CircuitWorld::open(LinkUser& source, LinkUser& destination) {
  FlowSender::Now now;
  if (has_shares()) now = [this] { return clock_.now(); };
  flows_.push_back(std::unique_ptr<RoutedFlow>(new RoutedFlow(std::move(now), source, destination)));
  return *flows_.back();
}

RoutedFlow& CircuitWorld::open(const routing::Path& path, LinkUser& source, LinkUser& destination) {
  RoutedFlow& flow = open(source, destination);
  add(flow, path, 0, CircuitShare::kNone);
  return flow;
}

std::optional<CircuitName> CircuitWorld::add(RoutedFlow& flow, const routing::Path& path, std::uint32_t bundle,
                                             CircuitShare share) {
  const std::optional<CircuitName> name = flow.sender_.reserve();
  if (!name.has_value()) return std::nullopt;
  auto circuit = std::make_unique<Circuit>();
  circuit->path_ = path;
  if (path.cables.empty()) circuit->hops_.push_back(make_local_hop(path.nodes.front()));
  for (std::size_t i = 0; i < path.hops(); ++i) circuit->hops_.push_back(make_hop(path.cables[i], path.nodes[i]));
  add_relays(*circuit, flow.source_, flow.destination_, share);
  // Neither can fail: no end has retired this circuit.
  const std::size_t last = path.cables.size();
  flow.sender_.join(*name, circuit->hops_.front()->source(), end_name(path, 0, 1), options_.chunk_bytes).IgnoreError();
  flow.receiver_.join(*name, circuit->hops_.back()->destination(), end_name(path, last, last - 1)).IgnoreError();
  flow.sender_.leaves_by(*name, egress(path, 0));
  flow.sender_.stripe(*name, bundle, share);
  flow.receiver_.stripe(*name, bundle, share);
  circuits_.push_back(std::move(circuit));
  return name;
}

void CircuitWorld::wake(RoutedFlow& flow) {
  flow.source_.wake();
  flow.destination_.wake();
}

void CircuitWorld::add_relays(Circuit& circuit, LinkUser& source, LinkUser& destination, CircuitShare share) {
  const routing::Path& path = circuit.path_;
  LinkUser* upstream = &source;
  for (std::size_t i = 1; i < circuit.hops_.size(); ++i) {
    RelayEgress leaves;
    if (has_shares()) leaves = {&clock_.present(), egress(path, i), share == CircuitShare::kAlternate};
    circuit.relays_.push_back(relays_[path.nodes[i].value]->add(
        circuit.hops_[i - 1]->destination(), circuit.hops_[i]->source(),
        RelayNames{end_name(path, i, i - 1), end_name(path, i, i + 1), i == 1}, leaves));
    circuit.hops_[i - 1]->set_users(*upstream, *circuit.relays_.back());
    upstream = circuit.relays_.back().get();
  }
  circuit.hops_.back()->set_users(*upstream, destination);
}

std::string CircuitWorld::end_name(const routing::Path& path, std::size_t at, std::size_t to) const {
  const auto name = [&](std::size_t place) { return topology_.node(path.nodes[place]).name; };
  if (path.cables.empty()) return to_text(HopEnd{name(0), "", name(0), "", ""});
  return to_text(HopEnd{name(at), "", name(to), "", topology_.cable(path.cables[std::min(at, to)]).name});
}

// Where the topology does not name ports, each cable has its own port.
EgressPort CircuitWorld::egress(const routing::Path& path, std::size_t at) {
  if (stamps_.empty() || path.cables.empty()) return {};
  const routing::CableIndex cable = path.cables[at];
  const std::string& interface = topology_.port_at(cable, path.nodes[at]).interface;
  return {*stamps_[path.nodes[at].value], interface.empty() ? topology_.cable(cable).name : interface};
}

const std::vector<routing::CableIndex>& CircuitWorld::wire_of(routing::CableIndex cable) const {
  return physical_.cables[physical_.place_of_cable[cable.value]].cables;
}

// Cuts all of them before the first end notices, so that no end acts on a cable that is down.
void CircuitWorld::cut(std::span<const routing::CableIndex> cables) {
  std::vector<bool> gone(topology_.cable_count());
  for (const routing::CableIndex cable : cables) {
    for (const routing::CableIndex each : wire_of(cable)) gone[each.value] = true;
  }
  std::vector<CableHop*> dead;
  for (const std::unique_ptr<Circuit>& circuit : circuits_) {
    for (std::size_t i = 0; i < circuit->path_.hops(); ++i) {
      if (!gone[circuit->path_.cables[i].value]) continue;
      const std::string& name = topology_.cable(circuit->path_.cables[i]).name;
      circuit->hops_[i]->cut(absl::UnavailableError(absl::StrCat("cable ", name, " was cut")));
      dead.push_back(circuit->hops_[i].get());
    }
  }
  for (CableHop* hop : dead) hop->wake_ends();
}

std::uint64_t CircuitWorld::crossings() const {
  std::uint64_t sum = 0;
  for (const CableUse& use : uses_) sum += use.chunks;
  return sum;
}

}  // namespace cableway::sim
