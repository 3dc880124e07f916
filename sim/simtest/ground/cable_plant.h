// The cables of a simulation test as data sees them: what leaves a port shares its rate, and connections live and die
// with the cable that they cross. Its ways are the fabric's segments, so that hellos and data fail together.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_CABLE_PLANT_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_CABLE_PLANT_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cable/cable_hop.h"
#include "sim/cable/transmitter.h"
#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/ground/plant_end.h"
#include "sim/simtest/ground/rdma_hop.h"
#include "sim/simtest/ground/rdma_ports.h"
#include "sim/simtest/ground/setup_wire.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// One connection over a cable, and what goes over RDMA beside it.
struct PlantHop {
  CableFabric::SegmentNumber segment = 0;
  std::size_t from_end = 0;  // places in the segment
  std::size_t to_end = 0;
  CableFabric::NodeNumber from = 0;
  CableFabric::NodeNumber to = 0;
  std::unique_ptr<CableHop> hop;
  HopUser source;
  HopUser destination;
  std::weak_ptr<SetupWire> setup;  // while one of its ends is being set up
  std::unique_ptr<RdmaHop> rdma;   // once the accepting end has joined what the dialing one offered
  std::optional<Instant> silent_since;
  std::uint64_t silences = 0;
  bool given_up = false;  // by one end, so the other will be told when it asks
  bool lost = false;      // one of its hosts was switched off

  // Once the set-up has come this far.
  PlantEnd source_end() { return rdma != nullptr ? rdma->source_end() : PlantEnd{hop->source(), source}; }
  PlantEnd destination_end() {
    return rdma != nullptr ? rdma->destination_end() : PlantEnd{hop->destination(), destination};
  }
};

class CablePlant {
 public:
  struct Facts {
    double bytes_per_second = 1.25e9;
    Duration latency = std::chrono::microseconds(5);
    std::uint64_t window_bytes = 512U << 10;
    // After so much silence a connection is over, for one end sooner than for the other; which it is even where the
    // cable is mended in between, since TCP's keepalive is then answered by a reset.
    Duration silence_limit = std::chrono::seconds(6);
    Duration silence_spread = std::chrono::seconds(2);
    RdmaWire::Facts rdma;  // but for the latency
    StubNetwork::Settings stub;
  };
  struct End {
    CableFabric::SegmentNumber segment = 0;
    std::size_t end = 0;
  };

  // Clock and fabric outlive this. All segments are there already.
  CablePlant(VirtualClock& clock, CableFabric& fabric, const Facts& facts);

  // The port with this address.
  std::optional<End> find(const std::string& address) const;
  CableFabric::NodeNumber node_of(const End& end) const { return fabric_.ends_of(end.segment)[end.end].first; }
  // Whether a connection can be made from one to the other now.
  bool connects(const End& from, const End& to) const;
  // Two processes of one node: a hop that crosses no cable.
  PlantHop& make_local_hop(CableFabric::NodeNumber node);
  PlantHop& make_hop(const End& from, const End& to);
  const Facts& facts() const { return facts_; }

  // The port gets an RDMA device. Before the first hop.
  void add_rdma(const End& end);
  RdmaPorts& rdma_ports() { return rdma_ports_; }
  // The accepting end of the hop joins a queue pair that its dialing end has offered; what it answers.
  absl::StatusOr<RdmaEndpoint> join(PlantHop& hop, StubQueuePair& offered, bool last_hop);
  // And the dialing end takes the answer.
  absl::Status settle(PlantHop& hop, std::unique_ptr<StubQueuePair> offered, const RdmaEndpoint& answered);

  // To be called after the fabric's segment has changed: connections over it wait, go on, or are given up in time.
  void look_at(CableFabric::SegmentNumber segment);
  // Connections over it are over, at both ends.
  void end_all(CableFabric::SegmentNumber segment, const absl::Status& reason);
  void complete_late(CableFabric::SegmentNumber segment, Duration by);
  void fail_next_sends(CableFabric::SegmentNumber segment);
  // Nothing leaves or reaches the node any more, ever: its host is off, and its connections with it. The other ends
  // notice in their time.
  void lose(CableFabric::NodeNumber node);

  // Chunks that were changed by their owner before their sends had completed.
  std::uint64_t changed_too_early() const;
  // What an owner of a queue pair has done against its contract: nothing, if it is OK.
  const absl::Status& misuse() const { return rdma_ports_.network().misuse(); }
  std::uint64_t parcels() const;
  std::uint64_t rdma_hops() const { return rdma_hops_; }  // that were settled

 private:
  static constexpr CableFabric::SegmentNumber kLocal = SIZE_MAX;

  HopDirection::Stages stages(const End& end);
  PlantHop& add_hop(const HopDirection::Stages& forward, const HopDirection::Stages& back);
  void update(PlantHop& hop);
  void give_up_later(PlantHop& hop);
  void end_apart(PlantHop& hop, const absl::Status& reason);

  VirtualClock& clock_;
  CableFabric& fabric_;
  const Facts facts_;
  std::map<std::string, End> ends_;
  std::vector<std::vector<std::unique_ptr<Transmitter>>> transmitters_;  // by segment and end
  std::vector<std::unique_ptr<Transmitter>> locals_;                     // by node
  std::vector<Duration> late_;                                           // by segment
  CableUse use_;
  RdmaPorts rdma_ports_;
  std::uint64_t rdma_hops_ = 0;
  std::list<PlantHop> hops_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_CABLE_PLANT_H_
