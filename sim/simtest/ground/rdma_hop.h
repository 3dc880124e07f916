// An RDMA hop between two ports of a simulation test: a queue pair at each end, a wire for each direction, and at both
// ends the product's link (core/rdma/rdma_chunk_link.h), whose lifeline is the connection on which the hop is set up.
//
//   offered in the set-up -> joined by the accepting end, which creates this -> settled by the dialing end
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rdma/rdma_chunk_link.h"
#include "sim/cable/cable_hop.h"
#include "sim/cable/connection_lifeline.h"
#include "sim/simtest/ground/hop_mover.h"
#include "sim/simtest/ground/plant_end.h"
#include "sim/simtest/ground/rdma_ports.h"
#include "sim/stub_rdma/rdma_wire.h"

namespace cableway::sim {

class RdmaHop final : public HopMover {
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
  PlantEnd source_end() override { return PlantEnd{source_link_->link(), source_.user, source_.port.device}; }
  PlantEnd destination_end() override {
    return PlantEnd{destination_link_->link(), destination_.user, destination_.port.device};
  }
  void hold(bool there, bool back) override;
  void complete_late(Duration by) override;
  // With a device error.
  void fail_next_send() override;
  bool outlives_connection() const override { return true; }

 private:
  // The product's link at one end, whose lifeline is the end's connection.
  class LinkEnd final : public BesideConnection {
   public:
    LinkEnd(std::unique_ptr<StubQueuePair> pair, const RdmaEndpoint& other, const End& end, RdmaChunkLink::Place place)
        : link_(std::move(pair), other, std::make_unique<ConnectionLifeline>(end.connection), place) {}
    void on_connection() override { link_.on_lifeline(); }
    void kill_process() override { static_cast<ConnectionLifeline&>(link_.lifeline()).kill_process(); }
    RdmaChunkLink& link() { return link_; }

   private:
    RdmaChunkLink link_;
  };

  StubNetwork& network_;
  const End source_;
  const End destination_;
  RdmaWire there_;
  RdmaWire back_;
  StubQueuePair& source_pair_;
  bool last_hop_ = false;
  std::unique_ptr<LinkEnd> source_link_;
  std::unique_ptr<LinkEnd> destination_link_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_RDMA_HOP_H_
