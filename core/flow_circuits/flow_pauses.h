// How long a flow stood still when a circuit that carried it ended: from the last chunk that was given to a circuit
// until the first one that is given to another. For the flow's source, which knows whether the network had to move.
// Sharing chunks among circuits is not a reroute.
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

// The flow goes over another circuit now, or over one less of those that share its chunks.
struct Reroute {
  CircuitName circuit;            // that carries it now
  std::string cause;              // why the last one ended; "": it has not, another one is better
  Duration pause{};               // all together, if there were several; at most one chunk's time too long
  std::uint64_t times = 0;        // reroutes since the last one that was taken, this one included
  std::uint64_t bytes_again = 0;  // sent again since then
};

class FlowPauses {
 public:
  // Whether moved() has to be called: a chunk was given since the last call. Cheap, for each call of the data path.
  bool due(const FlowTraffic& traffic) const { return traffic.chunks() != chunks_; }
  void moved(const CircuitOwner& flow, Instant now);
  // To be called when circuits of the flow have ended, before moved().
  void circuits_ended(const CircuitOwner& flow, Instant now);
  // The application has posted a message.
  void posted(Instant now) {
    if (lost_ && !since_.has_value()) since_ = now;
  }
  // The reroute that has not been taken, once what it had to send again has had time to be sent.
  std::optional<Reroute> take(const FlowTraffic& traffic, Instant now);

 private:
  void rerouted(const CircuitOwner& flow, Instant now);

  std::uint64_t chunks_ = 0;
  CircuitName carrier_;  // of the newest chunk seen
  Instant last_moved_;
  bool lost_ = false;  // the carrier has ended, or another circuit that shared its chunks
  std::uint64_t shares_ended_ = 0;
  std::optional<Instant> since_;  // when it did so, or since when its chunks have waited; nullopt: nothing waits
  std::string cause_;
  std::optional<Reroute> untaken_;
  Instant rerouted_at_;
  std::uint64_t again_taken_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PAUSES_H_
