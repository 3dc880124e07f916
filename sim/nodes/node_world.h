// Real nodes on a fabric in memory, in virtual time: runs a host's code, seeded and exactly repeatable.
#ifndef CABLEWAY_SIM_NODES_NODE_WORLD_H_
#define CABLEWAY_SIM_NODES_NODE_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/crypto/datagram_seal.h"
#include "core/node/node.h"
#include "sim/nodes/cable_fabric.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

class NodeWorld {
 public:
  using NodeNumber = CableFabric::NodeNumber;

  explicit NodeWorld(std::uint64_t seed) : random_(seed), fabric_(clock_, seed + 1) {}

  VirtualClock& clock() { return clock_; }
  CableFabric& fabric() { return fabric_; }

  // Adds nodes n0, n1, .. joined by cables, not yet running. Returns the cables' segments, in order.
  std::vector<CableFabric::SegmentNumber> build(std::size_t nodes,
                                                const std::vector<std::pair<std::uint32_t, std::uint32_t>>& cables);

  // Adds a node that runs once it is started. `options` holds what differs from the defaults; the boot nonce grows with
  // every start. On the nodes' wall clocks the world begins on 2000-01-01.
  NodeNumber add_node(NodeOptions options);
  void start(NodeNumber node);
  void start_all();
  // Ends the node without announcing it, as on a power failure.
  void kill(NodeNumber node);
  void leave(NodeNumber node);
  void use_seal(NodeNumber node, const DatagramSeal& seal) { places_[node].seal = &seal; }
  // From its next start on, the node uses this clock, which runs on clock() and outlives this.
  void use_clock(NodeNumber node, Clock& clock) { places_[node].clock = &clock; }
  // Called for every event of every node.
  void observe(std::function<void(NodeNumber, const Event&)> observer) { observer_ = std::move(observer); }

  // Called whenever a node's topology may have changed.
  void observe_topology(std::function<void(NodeNumber)> observer) { topology_observer_ = std::move(observer); }
  // Called whenever a node's ports have changed.
  void observe_ports(std::function<void(NodeNumber)> observer) { ports_observer_ = std::move(observer); }
  // Called whenever a neighbour of a node has announced its processes' TCP ports.
  void observe_told(std::function<void(NodeNumber)> observer) { told_observer_ = std::move(observer); }
  // Called when a cable of a node no longer carries all data (Node::Observer::cable_unfit).
  void observe_unfit(std::function<void(NodeNumber, const PortLost&)> observer) {
    unfit_observer_ = std::move(observer);
  }

  std::size_t size() const { return places_.size(); }
  bool runs(NodeNumber node) const { return places_[node].node != nullptr; }
  Node& node(NodeNumber node) { return *places_[node].node; }
  NodeOptions& options(NodeNumber node) { return places_[node].options; }
  // The clock and the seal that the node uses.
  Clock& clock_of(NodeNumber node) { return *places_[node].clock; }
  const DatagramSeal& seal_of(NodeNumber node) { return *places_[node].seal; }

  // Whether all running nodes hold the same database, and nothing is in flight.
  bool agrees() const;
  // Runs until the nodes agree and `also` holds. False: they did not within `limit`.
  bool settle(
      Duration limit, const std::function<bool()>& also = [] { return true; });

 private:
  struct Place {
    NodeOptions options;
    const DatagramSeal* seal = nullptr;
    Clock* clock = nullptr;
    std::unique_ptr<Node> node;
  };

  NoSeal no_seal_;
  std::mt19937_64 random_;
  VirtualClock clock_;
  CableFabric fabric_;
  std::shared_ptr<routing::AdvertisementPool> advertisements_ = std::make_shared<routing::AdvertisementPool>();
  std::vector<Place> places_;
  std::uint64_t boots_ = 1000;
  std::function<void(NodeNumber, const Event&)> observer_ = [](NodeNumber, const Event&) {};
  std::function<void(NodeNumber)> topology_observer_ = [](NodeNumber) {};
  std::function<void(NodeNumber, const PortLost&)> unfit_observer_ = [](NodeNumber, const PortLost&) {};
  std::function<void(NodeNumber)> ports_observer_ = [](NodeNumber) {};
  std::function<void(NodeNumber)> told_observer_ = [](NodeNumber) {};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_NODES_NODE_WORLD_H_
