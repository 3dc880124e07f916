// The cables of a simulation test for data: connections from a port share its rate, and connections fail with the cable
// that they cross. Built on the fabric's segments, so that hellos and data fail together.
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
#include "sim/cable/cable_hop.h"
#include "sim/cable/transmitter.h"
#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/ground/hop_mover.h"
#include "sim/simtest/ground/plant_end.h"
#include "sim/simtest/ground/setup_wire.h"
#include "sim/simtest/ground/watched_link.h"
#include "sim/simtest/plan/fault.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// One connection over a cable, and what moves the data of its hop.
struct PlantHop {
  CableFabric::SegmentNumber segment = 0;
  std::size_t from_end = 0;  // places in the segment
  std::size_t to_end = 0;
  CableFabric::NodeNumber from = 0;
  CableFabric::NodeNumber to = 0;
  std::unique_ptr<CableHop> connection;
  HopUser source;
  HopUser destination;
  std::weak_ptr<SetupWire> setup;        // while one of its ends is being set up
  std::optional<Instant> setup_held_at;  // when silence last held its bytes back
  std::unique_ptr<HopMover> mover;       // the connection, until a transport set up on it replaces it
  std::optional<Instant> silent_since;
  std::uint64_t silences = 0;
  bool given_up = false;  // by one end; the other detects it when it polls
  bool lost = false;      // one of its hosts was switched off
  WatchedLink::Sends sends;
  std::optional<WatchedLink> source_link;
  std::optional<WatchedLink> destination_link;

  // Precondition: the set-up has reached the respective end. Each once.
  PlantEnd source_end() { return watched(mover->source_end(), source_link); }
  PlantEnd destination_end() { return watched(mover->destination_end(), destination_link); }

 private:
  PlantEnd watched(const PlantEnd& end, std::optional<WatchedLink>& link) const {
    return {link.emplace(end.link, sends), end.user, end.device};
  }
};

class CablePlant {
 public:
  struct Facts {
    double bytes_per_second = 1.25e9;
    Duration latency = std::chrono::microseconds(5);
    std::uint64_t window_bytes = 512U << 10;
    // After this much silence a connection ends, at one end earlier than at the other; even if the cable is repaired in
    // between, since TCP's keepalive is then answered by a reset.
    Duration silence_limit = std::chrono::seconds(6);
    Duration silence_spread = std::chrono::seconds(2);
  };
  struct End {
    CableFabric::SegmentNumber segment = 0;
    std::size_t end = 0;
  };

  // Clock and fabric outlive this. All segments exist already.
  CablePlant(VirtualClock& clock, CableFabric& fabric, const Facts& facts);

  // The port with this address.
  std::optional<End> find(const std::string& address) const;
  CableFabric::NodeNumber node_of(const End& end) const { return fabric_.ends_of(end.segment)[end.end].first; }
  // Whether a connection from one to the other can be made now.
  bool connects(const End& from, const End& to) const;
  // Whether silence has held bytes of a set-up back on this segment at or after `since`.
  bool held_setup_since(CableFabric::SegmentNumber segment, Instant since) const;
  // A hop between two processes of one node, which crosses no cable.
  PlantHop& make_local_hop(CableFabric::NodeNumber node);
  PlantHop& make_hop(const End& from, const End& to);
  const Facts& facts() const { return facts_; }

  // From now on `mover` moves the data of a hop over a cable, by a transport that both ends of the hop agreed on.
  void set_mover(PlantHop& hop, std::unique_ptr<HopMover> mover);
  // The port's transmitter, which all hops from the port share.
  Transmitter& transmitter(const End& end) { return *transmitters_[end.segment][end.end]; }

  // From now on data leaves by this port at `per_mille` of its usual rate.
  void set_rate(const End& end, std::uint64_t per_mille) {
    transmitter(end).set_bytes_per_second(facts_.bytes_per_second * static_cast<double>(per_mille) / 1000);
  }

  // To be called after the fabric's segment has changed: its connections stall, resume, or are given up in time.
  void segment_changed(CableFabric::SegmentNumber segment);
  // Ends all connections over the segment, at both ends.
  void end_all(CableFabric::SegmentNumber segment, const absl::Status& reason);
  // Does the same once such a frame is sent over the segment, if that happens before `until`.
  void end_all_on(CableFabric::SegmentNumber segment, const CutOn& frame, Instant until, const absl::Status& reason);
  // Ends one connection, at both ends.
  void end_connection(PlantHop& hop, const absl::Status& reason);
  void complete_late(CableFabric::SegmentNumber segment, Duration by);
  // Calls HopDirection::flip_every() for each connection over the segment. RDMA hops have their own checksum per
  // packet.
  void flip_every(CableFabric::SegmentNumber segment, std::uint64_t chunks);
  void fail_next_sends(CableFabric::SegmentNumber segment);
  // Permanently disconnects the node: its host is off, and its connections are gone. The other ends detect that by
  // their own timers.
  void lose(CableFabric::NodeNumber node);

  // Chunks on connections whose memory was changed by its owner before their sends had completed.
  std::uint64_t changed_too_early() const;
  std::uint64_t parcels() const;
  // How often end_all_on() has ended connections.
  std::uint64_t sprung() const { return sprung_; }
  // The part of the time so far in which the port with the least traffic has sent, in per mille.
  std::uint64_t least_use() const;

 private:
  static constexpr CableFabric::SegmentNumber kLocal = SIZE_MAX;

  HopDirection::Stages stages(const End& end);
  PlantHop& add_hop(const HopDirection::Stages& forward, const HopDirection::Stages& back);
  void update(PlantHop& hop);
  void give_up_later(PlantHop& hop);
  void end_apart(PlantHop& hop, const absl::Status& reason);
  // What end_all_on() waits for.
  struct Ambush {
    CableFabric::SegmentNumber segment = 0;
    CutOn frame;
    bool arrives = false;
    Instant until;
    absl::Status reason;
  };
  void passes(CableFabric::SegmentNumber segment, CutOn::Kind frame);

  VirtualClock& clock_;
  CableFabric& fabric_;
  const Facts facts_;
  std::map<std::string, End> ends_;
  std::vector<std::vector<std::unique_ptr<Transmitter>>> transmitters_;  // by segment and end
  std::vector<std::unique_ptr<Transmitter>> locals_;                     // by node
  std::vector<Duration> late_;                                           // by segment
  std::vector<std::uint64_t> flips_;                                     // by segment
  CableUse use_;
  std::list<PlantHop> hops_;
  std::vector<Ambush> ambushes_;
  std::uint64_t sprung_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_CABLE_PLANT_H_
