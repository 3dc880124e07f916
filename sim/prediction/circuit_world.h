// Circuits over a topology's cables, in virtual time: real relays (core/relay/relay_circuit.h) and real flow ends, on
// hops with the cables' rates and latencies.
//
//   FlowSender - CableHop - RelayCircuit - CableHop - .. - FlowReceiver
//
// A flow whose circuit has ended gets another one.
//
// Cables that are one wire share its rate, and so do those that share a connector or a root
// (routing/topology/physical_cable.h).
#ifndef CABLEWAY_SIM_PREDICTION_CIRCUIT_WORLD_H_
#define CABLEWAY_SIM_PREDICTION_CIRCUIT_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
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
  // Except for the latency, which is the cable's. The send buffer matches core/linux/tcp/data_socket.h; of its
  // contents, two segments of 64 KiB are in the port's queue, the least that Linux allows (tcp_small_queue_check() in
  // net/ipv4/tcp_output.c), regardless of the chunk size.
  WireFacts wire{.buffer_bytes = 2U << 20, .queue_bytes = 128U << 10};
  RelayFacts relay;
  double local_bytes_per_second = 10e9;  // between two ranks of one node
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
  // Of the newest circuit.
  const routing::Path& path() const { return path_; }

 private:
  friend class CircuitWorld;

  RoutedFlow(LinkUser& source, LinkUser& destination) : source_(source), destination_(destination) {}

  LinkUser& source_;
  LinkUser& destination_;
  routing::Path path_;
  FlowSender sender_;
  FlowReceiver receiver_;
};

class CircuitWorld {
 public:
  // Clock and topology outlive this.
  CircuitWorld(VirtualClock& clock, const routing::Topology& topology, const CircuitOptions& options);

  // A flow over a circuit along `path`, whose ends wake `source` and `destination`; these outlive the world.
  RoutedFlow& open(const routing::Path& path, LinkUser& source, LinkUser& destination);
  // Gives a flow, none of whose circuits is alive, another one along `path`, and wakes both ends.
  void reroute(RoutedFlow& flow, const routing::Path& path);

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
  void add_circuit(RoutedFlow& flow, const routing::Path& path);
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
