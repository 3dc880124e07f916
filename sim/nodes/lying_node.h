// An insider: a node with the cluster's key and real cables, which floods and tells its neighbours what its caller
// gives it, true or false. It keeps no database and relays nothing, but announces the default port of a relay. In the
// simulator its ports are a fabric's; in tools/bench/hostile they are a host's.
#ifndef CABLEWAY_SIM_NODES_LYING_NODE_H_
#define CABLEWAY_SIM_NODES_LYING_NODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/crypto/datagram_seal.h"
#include "core/discovery/control_channel.h"
#include "core/discovery/neighbours.h"
#include "core/flooding/link_segment.h"
#include "core/flooding/told_ports.h"
#include "core/ports/port_inventory.h"
#include "routing/link_state/advertisement.h"
#include "sim/nodes/cable_fabric.h"

namespace cableway::sim {

class LyingNode final : private Neighbours::Listener {
 public:
  // Owns the ports of a node, which must not run otherwise. All references must outlive this.
  LyingNode(NodeIdentity identity, Clock& clock, PortInventory& inventory, ControlChannel& channel,
            const DatagramSeal& seal, HelloTiming timing);
  LyingNode(NodeIdentity identity, Clock& clock, FabricPorts& ports, const DatagramSeal& seal, HelloTiming timing = {})
      : LyingNode(std::move(identity), clock, ports, ports, seal, timing) {}
  ~LyingNode() override;

  void start();
  // Leaves, as a node that is ended does.
  void stop();

  // Its own advertisement has these ports and adjacencies beside the true ones.
  void claim(std::vector<routing::AdvertisedPort> ports, std::vector<routing::AdvertisedAdjacency> adjacencies);
  // Its own advertisement gives this address as its own at each true adjacency; empty: the true ones.
  void claim_address(std::optional<routing::PortAddress> address);
  // Floods an advertisement to all neighbours, present and later, in the order of the calls.
  void say(const routing::Advertisement& advertisement);
  // Sends these TCP ports as its own to all neighbours, present and later, in the order of the calls.
  void tell(const AnnouncedPorts& ports);

  const NodeIdentity& identity() const { return neighbours_.identity(); }
  std::size_t neighbours_up() const;
  // All that was said has been sent to every neighbour that is up.
  bool has_said_all() const;
  // The number of advertisements and lists said, and of those sent to the neighbour that is furthest behind.
  std::size_t said() const { return said_.size(); }
  std::size_t sent() const;

 private:
  class Link;

  void adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) override;
  void adjacency_down(const NeighbourKey& key, const Neighbour& neighbour, EventCode code,
                      const std::string& reason) override;
  void cable_unfit(const NeighbourKey&, const Neighbour&, const std::string&) override {}
  void plugs_changed() override {}
  void latencies_changed() override {}
  void problem(const Problem&, EventFields) override {}
  void segment(const NeighbourKey& key, std::span<const std::byte> body) override;
  void say_own();
  routing::Advertisement own() const;

  Clock& clock_;
  ControlChannel& channel_;
  Neighbours neighbours_;
  std::uint64_t random_ = 1;
  std::vector<routing::AdvertisedPort> claimed_ports_;
  std::vector<routing::AdvertisedAdjacency> claimed_;
  std::optional<routing::PortAddress> claimed_address_;
  std::vector<LinkMessage> said_;
  std::map<NeighbourKey, std::unique_ptr<Link>> links_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_NODES_LYING_NODE_H_
