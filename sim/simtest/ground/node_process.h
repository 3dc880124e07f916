// A node's process in a simulation test: the parts of core/linux/node/node_service.h beyond core/node/node.h that do
// not use the kernel: relayed set-ups, requests for paths, relayed circuits, pulses. The decisions are made by the
// product's own code (core/circuit/transit_setups.h, core/node/path_wait.h, core/node/cable_verdicts.h).
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_NODE_PROCESS_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_NODE_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/circuit/hop_names.h"
#include "core/circuit/transit_setups.h"
#include "core/neighbour_shares.h"
#include "core/node/path_wait.h"
#include "core/ports/port_lost.h"
#include "sim/simtest/ground/node_pulses.h"
#include "sim/simtest/ground/setup_door.h"
#include "sim/simtest/ground/sim_end.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/ground/slot_store.h"

namespace cableway::sim {

// Part of the reason when a circuit is refused for lack of room.
inline constexpr char kNoRoom[] = " has no room for another circuit";

class NodeProcess final : private TransitSetups::Host {
 public:
  // Everything outlives it.
  NodeProcess(SimtestGround& ground, std::size_t node) : ground_(ground), node_(node) {}

  // The node (core/node/node.h) has started or ended. When it ends, its relayed circuits and pending set-ups end too,
  // and requests for paths stay unanswered.
  void start();
  void end();
  void topology_changed();
  void ports_changed();
  // A neighbour has announced the TCP ports of its processes.
  void ports_told() {
    if (incarnation_.has_value()) incarnation_->transit.topology_changed();
  }
  // Hellos pass over the cable, but not all data.
  void cable_unfit(const PortLost& lost);

  // Null: the process is not running.
  SetupDoor* door() { return incarnation_.has_value() ? &incarnation_->door : nullptr; }
  // Precondition: the process is running.
  void find_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most, PathWait::Answer answer);
  // In the order of NodeService::find_paths().
  absl::StatusOr<std::vector<PathOffer>> find_inquiry_paths(const std::string& destination, std::uint64_t ordinal,
                                                            std::size_t most) const;

  // While it stands still, its relay, its listener and its pulses do nothing.
  void stand_still(bool still);
  bool stands_still() const { return still_; }

  // Null: none are sent, or the process is not running.
  const NodePulses* pulses() const {
    return incarnation_.has_value() && incarnation_->pulses.has_value() ? &*incarnation_->pulses : nullptr;
  }
  // Whether it relays a circuit over the cable.
  bool relays_over(const PortLost& cable) const;

  // Removes circuits that have ended, as the relay loop does.
  void tend();
  // The number of set-ups in progress.
  // Set-ups on their way, inquiries included.
  std::size_t in_setup() const {
    return incarnation_.has_value() ? incarnation_->transit.in_setup() + incarnation_->transit.inquiries() : 0;
  }

 private:
  // The state between start() and end().
  struct Incarnation {
    explicit Incarnation(NodeProcess& process);

    TransitSetups transit;
    PathWait paths;
    SetupDoor door;
    std::optional<NodePulses> pulses;
  };
  struct Relay {
    std::unique_ptr<RelayedCircuit> circuit;
    PlantHop* upstream = nullptr;
    PlantHop* downstream = nullptr;
    HopEnd upstream_end;
    HopEnd downstream_end;
    CircuitSetup setup;
    // Whether the circuit uses its port as a flow's own path; known from the announcements that pass through it.
    std::unique_ptr<bool> competes;
    std::unique_ptr<WatchedLink> upstream_link;
    std::unique_ptr<WatchedLink> downstream_link;
    bool forgotten = false;
  };

  absl::Status check_transit(const CircuitSetup& setup) override;
  ShareHolder neighbour_at(const SetupConnection& connection) const override;
  std::set<ShareHolder> neighbours() const override;
  std::size_t circuits() const override;
  std::size_t max_circuits() const override;
  absl::Status no_room(std::size_t in_setup) const override;
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd& upstream,
                                                   const TransportEnd& downstream) override;
  absl::Status relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                     std::unique_ptr<Slot> floor) override;
  void refused(const CircuitSetup& setup, const absl::Status& reason) override;
  void lost(const CircuitSetup& setup, const absl::Status& reason) override;
  void forget(Relay& relay);
  void lose_port(const PortLost& lost);
  void lose_carriers();
  void cable_usable();
  // The store with slots for a circuit between these two ends.
  SlotStore& store_between(const TransportEnd& upstream, const TransportEnd& downstream) const {
    return host().store(slots_between(sim_end(upstream), sim_end(downstream)));
  }
  SimtestHost& host() const { return ground_.hosts[node_]; }

  SimtestGround& ground_;
  const std::size_t node_;
  std::optional<Incarnation> incarnation_;
  bool still_ = false;
  std::set<PortId> carriers_;  // ports that have theirs
  std::size_t entered_ = 0;    // unfinished set-ups, counted independently of the code under test
  std::vector<Relay> relays_;  // removed ones may still have scheduled events
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_NODE_PROCESS_H_
