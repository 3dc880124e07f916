// The common interface of both ends of a flow (flow_sender.h, flow_receiver.h). They own the flow's circuits and
// outlive them.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_OWNER_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_OWNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/clock.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/chunk_link.h"
#include "core/flow/circuit_end.h"
#include "core/flow/circuit_load.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "core/flow/flow_traffic.h"
#include "core/gate/port_stamps.h"

namespace cableway {

// One thread at a time.
class CircuitOwner {
 public:
  CircuitOwner() = default;
  CircuitOwner(const CircuitOwner&) = delete;
  CircuitOwner& operator=(const CircuitOwner&) = delete;
  virtual ~CircuitOwner() = default;

  // Adds a circuit whose set-up is done; a sender must have reserved its name. `hop`, this end's link, must live
  // until the circuit has ended. `where` names this end in reasons that are sent along the circuit
  // (core/circuit/hop_names.h). `chunk_bytes`: the largest chunk that the circuit accepts, a multiple of 128.
  // FailedPrecondition: the other end has already retired this circuit or a later one in its slot.
  virtual absl::Status join(const CircuitName& circuit, ChunkLink& hop, std::string where,
                            std::uint32_t chunk_bytes) = 0;
  // Adds a live circuit to that bundle. The circuits of a bundle share chunks while one of them is the primary; an
  // alternate takes part only while its path is idle. Both ends must make this call, each right after join(). Bundle
  // 0 with kNone: no bundle. Queues frames as join() does.
  virtual void stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare share) = 0;
  // At the source: sets the port of this host through which a live circuit leaves.
  virtual void leaves_by(const CircuitName& /*circuit*/, EgressPort /*port*/) {}
  // Ends a live circuit that its owner has found broken; the reason is sent along the circuit. This call and join()
  // queue frames on live circuits, which leave with the next progress().
  virtual void end_circuit(const CircuitName& circuit, const absl::Status& reason) = 0;
  // At the source: ends circuits over which nothing has landed for too long while other circuits carried chunks
  // (Striping::stuck). To be called a few times a second.
  virtual void end_stuck() {}
  // At the source: the loads of the ports that live circuits use. To be called a few times a second.
  virtual CircuitLoads loads() { return {}; }
  virtual bool is_live(const CircuitName& circuit) const = 0;
  virtual std::size_t live() const = 0;
  // At the source: whether this circuit shares the flow's chunks with others now.
  virtual bool shares(const CircuitName& /*circuit*/) const { return false; }
  // At the source: the number of circuits since construction that ended while they shared chunks.
  virtual std::uint64_t shares_ended() const { return 0; }
  // The number since construction.
  virtual std::uint64_t circuits_ended() const = 0;
  // Why the most recently ended circuit ended, and where that was found; OK if none has ended.
  virtual const absl::Status& last_end() const = 0;
  const FlowTraffic& traffic() const { return traffic_; }
  // The circuit that carries the flow: that of the newest chunk, or the primary where chunks are shared. Generation
  // 0: none has carried it yet.
  virtual CircuitName carrier() const { return traffic_.last(); }
  // Grows when data of the flow is found to have arrived at the destination; the amount has no unit.
  virtual std::uint64_t arrived() const = 0;
  // At the source: whether sent data is not known to have landed, so that progress depends on the network. A
  // destination cannot know this, and returns false.
  virtual bool in_flight() const = 0;
  // The number of circuits since construction that ended because this end found damaged bytes (found_corruption()),
  // and the most recent such finding with its place.
  std::uint64_t corruptions() const { return corruptions_; }
  const absl::Status& last_corruption() const { return last_corruption_; }
  // The end of the most recently ended circuit in this slot.
  const CircuitEnd& end_in(std::size_t slot) const { return ends_[slot]; }
  // Generation 0: none has ended.
  const CircuitName& last_ended() const { return last_ended_; }

  // Does all work possible without blocking. A status other than OK is final for the flow; its owner then fails or
  // fences the links of all circuits.
  virtual absl::Status progress() = 0;
  // As progress(), for a caller that polls in a loop: circuits other than the primary over which nothing moves are
  // polled in only some of these calls (core/quiet_polls.h).
  virtual absl::Status progress_in_loop(Instant /*now*/) { return progress(); }
  // Whether the message with this sequence number is done; and its size, for one of the last kMaxLandings posted.
  virtual bool done(std::uint64_t message) const = 0;
  virtual std::uint64_t size(std::uint64_t message) const = 0;
  // Whether all posted messages are done.
  virtual bool idle() const = 0;

 protected:
  // Records that a circuit has ended; `reason` includes where that was found. `counted` as CircuitEnd's.
  void note_end(const CircuitName& circuit, CircuitEndKind kind, const absl::Status& reason, bool counted) {
    ends_[circuit.slot] = {circuit, kind, std::string(reason.message()), counted, 0};
    last_ended_ = circuit;
    if (!found_corruption(reason)) return;
    ++corruptions_;
    last_corruption_ = reason;
  }
  // Records that the destination has counted what landed over the circuit; the remaining bytes are to be sent again.
  void note_counted(const CircuitName& circuit, std::uint64_t bytes_again) {
    CircuitEnd& end = ends_[circuit.slot];
    if (!(end.circuit == circuit)) return;
    end.counted = true;
    end.bytes_again = bytes_again;
  }

  FlowTraffic traffic_;

 private:
  std::array<CircuitEnd, kMaxFlowCircuits> ends_;  // by slot
  std::uint64_t corruptions_ = 0;
  absl::Status last_corruption_;
  CircuitName last_ended_{0, 0};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_OWNER_H_
