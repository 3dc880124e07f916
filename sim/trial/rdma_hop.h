// A hop over RDMA between two ports of a trial: a queue pair at each end, a wire for each direction, and at both ends
// the product's link (core/rdma_chunk_link.h), whose lifeline is the connection over which the hop is set up.
//
//   offered with the set-up -> joined by the end that accepts -> settled by the end that dialled
#ifndef CABLEWAY_SIM_TRIAL_RDMA_HOP_H_
#define CABLEWAY_SIM_TRIAL_RDMA_HOP_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cable_hop.h"
#include "sim/rdma_wire.h"
#include "sim/trial/plant_end.h"
#include "sim/trial/rdma_ports.h"

namespace cableway::sim {

class RdmaHop {
 public:
  // One end: its port's device, its end of the connection, and who moves it.
  struct End {
    RdmaPort port;
    CableLink& connection;
    HopUser& user;
  };

  // Everything outlives this. `offered` is a queue pair on the port of `source`, which dials.
  RdmaHop(VirtualClock& clock, StubNetwork& network, const RdmaWire::Facts& facts, Transmitter& out, Transmitter& back,
          std::unique_ptr<StubQueuePair> offered, const End& source, const End& destination);

  RdmaEndpoint offer() const { return source_pair_->endpoint(); }
  // The end that accepts, joined to what was offered; what it answers. `last_hop`: it is the flow's destination.
  absl::StatusOr<RdmaEndpoint> join(bool last_hop);
  // The end that dialled takes the answer.
  absl::Status settle(const RdmaEndpoint& answered);
  // The set-up was given up before that.
  void abandon();

  // Once it is settled, and once it is joined.
  PlantEnd source_end() { return PlantEnd{*source_link_, source_.user, source_.port.device}; }
  PlantEnd destination_end() { return PlantEnd{*destination_link_, destination_.user, destination_.port.device}; }

  // Whether the cable does not carry from source to destination, and not back.
  void hold(bool there, bool back);
  void complete_late(Duration by);
  // The next write of the source fails, as the device says.
  void fail_next_write();

 private:
  StubNetwork& network_;
  const End source_;
  const End destination_;
  RdmaWire there_;
  RdmaWire back_;
  std::unique_ptr<StubQueuePair> offered_;  // until it is settled
  StubQueuePair* const source_pair_;
  bool last_hop_ = false;
  std::unique_ptr<RdmaChunkLink> source_link_;
  std::unique_ptr<RdmaChunkLink> destination_link_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_TRIAL_RDMA_HOP_H_
