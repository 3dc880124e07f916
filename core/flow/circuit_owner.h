// What both ends of a flow have in common (flow_sender.h, flow_receiver.h): they own its circuits, and outlive them.
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

  // A circuit is set up; a sender must have reserved its name. This end's hop must live until the circuit has ended.
  // `where`: this end of it, in reasons that are sent along it (core/circuit/hop_names.h). `chunk_bytes`: the largest
  // chunk that it accepts, a multiple of 128.
  // FailedPrecondition: the other end has retired it already, or a later one in its slot.
  virtual absl::Status join(const CircuitName& circuit, ChunkLink& hop, std::string where,
                            std::uint32_t chunk_bytes) = 0;
  // From now on a live circuit is of that bundle: those of one bundle carry chunks beside each other while one of them
  // is the primary, an alternate only while its way is idle. Both ends must do so, each right after join(). Bundle 0,
  // with kNone: of none. Queues frames as join() does.
  virtual void stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare share) = 0;
  // At the source: the port of this host by which a live circuit leaves.
  virtual void leaves_by(const CircuitName& /*circuit*/, EgressPort /*port*/) {}
  // Ends a live circuit that its owner has found broken; the reason is sent along it. This and join() queue frames on
  // live circuits, which leave with the next progress().
  virtual void end_circuit(const CircuitName& circuit, const absl::Status& reason) = 0;
  // At the source: ends circuits over which nothing has landed for long, while others carried chunks
  // (Striping::stuck). To be called a few times a second.
  virtual void end_stuck() {}
  // At the source: what ports carry that live circuits use. To be called a few times a second.
  virtual CircuitLoads loads() { return {}; }
  virtual bool is_live(const CircuitName& circuit) const = 0;
  virtual std::size_t live() const = 0;
  // At the source: whether chunks are shared among this circuit and others now.
  virtual bool shares(const CircuitName& /*circuit*/) const { return false; }
  // At the source, since construction: circuits that have ended while they did so.
  virtual std::uint64_t shares_ended() const { return 0; }
  // Since construction.
  virtual std::uint64_t circuits_ended() const = 0;
  // Why the circuit that ended last has ended, and where that was found; OK if none has.
  virtual const absl::Status& last_end() const = 0;
  const FlowTraffic& traffic() const { return traffic_; }
  // The circuit that carries the flow: that of the newest chunk, or the primary where chunks are shared. Generation 0:
  // there was none.
  virtual CircuitName carrier() const { return traffic_.last(); }
  // At the source: whether something was sent that is not known to have landed, so that the network has to move. A
  // destination does not know.
  virtual bool in_flight() const = 0;
  // Circuits that have ended since construction because this end found damaged bytes (found_corruption()), and what it
  // found last, and where.
  std::uint64_t corruptions() const { return corruptions_; }
  const absl::Status& last_corruption() const { return last_corruption_; }
  // Of the circuit that ended last in this slot.
  const CircuitEnd& end_in(std::size_t slot) const { return ends_[slot]; }

  // Does all work possible without blocking. A status other than OK is final for the flow; its owner then fails or
  // fences the links of all circuits.
  virtual absl::Status progress() = 0;
  // The same, for a caller that polls in a loop: a circuit beside the primary over which nothing moves is polled in
  // some of these calls only (core/quiet_polls.h).
  virtual absl::Status progress_in_loop(Instant /*now*/) { return progress(); }
  // Whether the message with this sequence number is done, and the size of one among the last kMaxLandings posted.
  virtual bool done(std::uint64_t message) const = 0;
  virtual std::uint64_t size(std::uint64_t message) const = 0;
  // Whether every message posted is done.
  virtual bool idle() const = 0;

 protected:
  // A circuit has ended; `where` is in the reason. `counted` as CircuitEnd's.
  void note_end(const CircuitName& circuit, CircuitEndKind kind, const absl::Status& reason, bool counted) {
    ends_[circuit.slot] = {circuit, kind, std::string(reason.message()), counted, 0};
    if (!found_corruption(reason)) return;
    ++corruptions_;
    last_corruption_ = reason;
  }
  // Its destination has counted what has landed over it, and the rest has to be sent again.
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
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_OWNER_H_
