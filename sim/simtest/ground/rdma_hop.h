// An RDMA hop between two ports of a simulation test: a queue pair at each end, a wire for each direction, and at both
// ends the product's link (core/rdma/rdma_chunk_link.h), whose lifeline is the connection on which the hop is set up.
//
//   offered in the set-up -> joined by the accepting end, which creates this -> settled by the dialing end
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cable/cable_hop.h"
#include "sim/simtest/ground/plant_end.h"
#include "sim/simtest/ground/rdma_ports.h"
#include "sim/stub_rdma/rdma_wire.h"

namespace cableway::sim {

class RdmaHop {
 public:
  // One end: its port's device, its end of the connection, and the party that moves it.
  struct End {
    RdmaPort port;
    CableLink& connection;
    HopUser& user;
  };

  // All arguments outlive this. `offered` is a queue pair on the port of `source`, which dials.
  RdmaHop(VirtualClock& clock, StubNetwork& network, const RdmaWire::Facts& facts, Transmitter& out, Transmitter& back,
          StubQueuePair& offered, const End& source, const End& destination);

  // Connects the accepting end to the offered queue pair; returns the answer. `last_hop`: it is the flow's destination.
  absl::StatusOr<RdmaEndpoint> join(bool last_hop);
  // Completes the dialing end with the answer.
  absl::Status settle(std::unique_ptr<StubQueuePair> offered, const RdmaEndpoint& answered);

  // Preconditions: settle() has succeeded; join() has succeeded.
  PlantEnd source_end() { return PlantEnd{*source_link_, source_.user, source_.port.device}; }
  PlantEnd destination_end() { return PlantEnd{*destination_link_, destination_.user, destination_.port.device}; }

  // Whether the cable blocks traffic from source to destination, and back.
  void hold(bool there, bool back);
  void complete_late(Duration by);
  // Makes the source's next write fail with a device error.
  void fail_next_write();

 private:
  StubNetwork& network_;
  const End source_;
  const End destination_;
  RdmaWire there_;
  RdmaWire back_;
  StubQueuePair& source_pair_;
  bool last_hop_ = false;
  std::unique_ptr<RdmaChunkLink> source_link_;
  std::unique_ptr<RdmaChunkLink> destination_link_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_
