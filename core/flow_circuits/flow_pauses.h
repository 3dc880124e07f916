// Measures how long a flow paused when a circuit that carried it ended: from the last chunk given to one circuit to
// the first chunk given to another. For the flow's source, which knows whether data was in flight. Sharing chunks
// among circuits is not a reroute.
//
// One thread at a time. Allocates only when a circuit ends or another one takes over.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PAUSES_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PAUSES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/clock.h"
#include "core/flow/circuit_owner.h"
#include "core/flow/flow_traffic.h"

namespace cableway {

// The flow now goes over another circuit, or over one circuit fewer of those that share its chunks.
struct Reroute {
  CircuitName circuit;            // the circuit that carries the flow now
  std::string cause;              // why the previous circuit ended; "": it has not ended, the new one is better
  Duration pause{};               // total of all reroutes counted here; up to one chunk's time too long for each
  std::uint64_t times = 0;        // reroutes since the last take(), including this one
  std::uint64_t bytes_again = 0;  // sent again since then
};

class FlowPauses {
 public:
  // Whether moved() has to be called: a chunk was given since the last call. Cheap enough for each call of the data
  // path.
  bool due(const FlowTraffic& traffic) const { return traffic.chunks() != chunks_; }
  void moved(const CircuitOwner& flow, Instant now);
  // To be called when circuits of the flow have ended, before moved().
  void circuits_ended(const CircuitOwner& flow, Instant now);
  // The application has posted a message.
  void posted(Instant now) {
    if (lost_ && !since_.has_value()) since_ = now;
  }
  // Returns the reroute that has not been taken, after a delay in which the data to be sent again has been sent.
  std::optional<Reroute> take(const FlowTraffic& traffic, Instant now);

 private:
  void rerouted(const CircuitOwner& flow, Instant now);

  std::uint64_t chunks_ = 0;
  CircuitName carrier_;  // of the newest chunk seen
  Instant last_moved_;
  bool lost_ = false;  // the carrier, or another circuit that shared its chunks, has ended
  std::uint64_t shares_ended_ = 0;
  std::optional<Instant> since_;  // when it ended, or since when its chunks have waited; nullopt: nothing waits
  std::string cause_;
  std::optional<Reroute> untaken_;
  Instant rerouted_at_;
  std::uint64_t again_taken_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PAUSES_H_
