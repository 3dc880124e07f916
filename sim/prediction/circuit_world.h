// Circuits over a topology's cables, in virtual time: real relays (core/relay/relay_circuit.h) and real flow ends, on
// hops with the cables' rates and latencies.
//
//   FlowSender - CableHop - RelayCircuit - CableHop - .. - FlowReceiver
//
// A flow may have several circuits at a time. Nodes then know which of their ports are in use
// (core/gate/port_stamps.h).
//
// Cables that are one wire share its rate, and so do those that share a connector or a root
// (routing/topology/physical_cable.h).
#ifndef CABLEWAY_SIM_PREDICTION_CIRCUIT_WORLD_H_
#define CABLEWAY_SIM_PREDICTION_CIRCUIT_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/gate/port_stamps.h"
#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"
#include "sim/cable/cable_hop.h"
#include "sim/cable/relay_host.h"
#include "sim/cable/transmitter.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

struct CircuitOptions {
  std::uint32_t chunk_bytes = 64U << 10;  // a multiple of 128
  Payload payload = Payload::kCounted;
  // The facts of every hop except for its latency, which is the cable's. The send buffer matches
  // core/linux/tcp/data_socket.h; of its contents, two segments of 64 KiB are in the port's queue, the least that Linux
  // allows (tcp_small_queue_check() in net/ipv4/tcp_output.c), regardless of the chunk size.
  WireFacts wire{.buffer_bytes = 2U << 20, .queue_bytes = 128U << 10};
  RelayFacts relay;
  double local_bytes_per_second = 10e9;  // between two ranks of one node
  // Which further circuits flows may have beside their first one: none, those of bundles, or alternates, too.
  CircuitShare shares = CircuitShare::kNone;
};

// One path of a flow: its hops, and the relays between them.
class Circuit {
 public:
  const routing::Path& path() const { return path_; }
  // Hop i leads to relay i, except for the last hop.
  std::size_t relays() const { return relays_.size(); }
  const CableHop& hop(std::size_t place) const { return *hops_[place]; }
  const RelayCircuit& relay(std::size_t place) const { return relays_[place]->circuit(); }

 private:
  friend class CircuitWorld;

  routing::Path path_;
  std::vector<std::unique_ptr<CableHop>> hops_;
  std::vector<std::unique_ptr<RelayedCircuit>> relays_;
};

// Both ends of a flow. It outlives its circuits, and waits while it has none.
class RoutedFlow {
 public:
  FlowSender& sender() { return sender_; }
  FlowReceiver& receiver() { return receiver_; }

 private:
  friend class CircuitWorld;

  // `now` as in FlowSender.
  RoutedFlow(FlowSender::Now now, LinkUser& source, LinkUser& destination)
      : source_(source), destination_(destination), sender_(std::move(now)) {}

  LinkUser& source_;
  LinkUser& destination_;
  FlowSender sender_;
  FlowReceiver receiver_;
};

class CircuitWorld {
 public:
  // Clock and topology outlive this.
  CircuitWorld(VirtualClock& clock, const routing::Topology& topology, const CircuitOptions& options);

  // A flow without a circuit, whose ends wake `source` and `destination`; these outlive the world.
  RoutedFlow& open(LinkUser& source, LinkUser& destination);
  // The same with one circuit along `path`.
  RoutedFlow& open(const routing::Path& path, LinkUser& source, LinkUser& destination);
  // Gives the flow a circuit along `path`; `bundle` and `share` as in CircuitOwner::stripe(). Does not wake the ends.
  // nullopt: the flow has as many circuits as it may have.
  std::optional<CircuitName> add(RoutedFlow& flow, const routing::Path& path, std::uint32_t bundle, CircuitShare share);
  // Wakes both ends.
  static void wake(RoutedFlow& flow);

  std::size_t circuits() const { return circuits_.size(); }
  const Circuit& circuit(std::size_t place) const { return *circuits_[place]; }
  const routing::Topology& topology() const { return topology_; }
  Instant now() const { return clock_.now(); }
  void after(Duration delay, std::function<void()> call) { clock_.post_at(clock_.now() + delay, std::move(call)); }
  const CircuitOptions& options() const { return options_; }
  const RelayHost& relay(routing::NodeIndex node) const { return *relays_[node.value]; }
  // Removes the carrier of these cables at once, and of the other cables of their wires: every circuit over one of them
  // ends, and its ends are notified. Later circuits must not cross them.
  void cut(std::span<const routing::CableIndex> cables);
  // The cables of the wire that `cable` is part of, including `cable`; they fail together.
  const std::vector<routing::CableIndex>& wire_of(routing::CableIndex cable) const;

  // What left from cable.a (true) or cable.b; cables of one wire are counted separately.
  const CableUse& use(routing::CableIndex cable, bool from_a) const { return uses_[place(cable, from_a)]; }
  // The number of chunks that have crossed a cable so far.
  std::uint64_t crossings() const;

 private:
  void add_relays(Circuit& circuit, LinkUser& source, LinkUser& destination, CircuitShare share);
  // One end of a circuit's hop on node `at` of its path, the hop that leads to node `to`.
  std::string end_name(const routing::Path& path, std::size_t at, std::size_t to) const;
  // The port by which node `at` of the path sends on; unknown where flows have one circuit each.
  EgressPort egress(const routing::Path& path, std::size_t at);
  bool has_shares() const { return options_.shares != CircuitShare::kNone; }
  static std::size_t place(routing::CableIndex cable, bool from_a) { return 2ULL * cable.value + (from_a ? 0 : 1); }
  void make_transmitters();
  std::unique_ptr<CableHop> make_hop(routing::CableIndex cable, routing::NodeIndex from);
  std::unique_ptr<CableHop> make_local_hop(routing::NodeIndex node);
  HopDirection::Stages stages(routing::CableIndex cable, bool from_a);
  std::vector<Transmitter*> sending_stages(routing::CableIndex cable, bool from_a);

  VirtualClock& clock_;
  const routing::Topology& topology_;
  const CircuitOptions options_;
  const routing::PhysicalCables physical_;
  std::vector<std::unique_ptr<RelayHost>> relays_;        // by node
  std::vector<std::unique_ptr<PortStampPage>> stamps_;    // by node; empty if flows have one circuit each
  std::vector<std::unique_ptr<Transmitter>> cables_;      // twice, as uses_; null if the cable is a wire by itself
  std::vector<std::unique_ptr<Transmitter>> wires_;       // by physical cable, likewise
  std::vector<std::unique_ptr<Transmitter>> connectors_;  // by shared connector, twice: out of it, into it
  std::vector<std::unique_ptr<Transmitter>> roots_;       // by shared root, likewise
  std::vector<std::unique_ptr<Transmitter>> locals_;      // by node
  std::vector<CableUse> uses_;                            // by cable, twice: from its a, from its b
  CableUse local_use_;
  std::vector<std::unique_ptr<Circuit>> circuits_;  // also those that have ended
  std::vector<std::unique_ptr<RoutedFlow>> flows_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_CIRCUIT_WORLD_H_
