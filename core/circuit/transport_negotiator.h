// Chooses what a hop goes over: the first transport of a node's list that both ends of the hop have, else the
// connection that it was set up on. A device that should work and does not is an error, and never a reason to use that
// in silence.
//
// Set-up only; one thread.
#ifndef CABLEWAY_CORE_CIRCUIT_TRANSPORT_NEGOTIATOR_H_
#define CABLEWAY_CORE_CIRCUIT_TRANSPORT_NEGOTIATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/setup_connection.h"
#include "core/circuit/transport.h"

namespace cableway {

class TransportNegotiator {
 public:
  using MakeConnectionEnd = std::function<std::unique_ptr<TransportEnd>()>;

  // Best first. `connection_end` makes the end that a hop has over its own connection.
  TransportNegotiator(std::vector<std::unique_ptr<Transport>> list, MakeConnectionEnd connection_end)
      : list_(std::move(list)), connection_end_(std::move(connection_end)) {}

  // The ends that a dialing end has to offer, until the answer says which of them it is.
  struct Offered {
    struct Each {
      Transport* transport;
      std::unique_ptr<TransportEnd> end;
    };
    std::vector<Each> ends;
    std::string why_none;  // for people: why the first transport of the list is not among them
  };

  // For the end that dials: puts its offers into `setup`.
  absl::StatusOr<Offered> offer(CircuitSetup& setup) const;
  // What became of them, by the answer. InvalidArgument: the answer cannot be, and why.
  absl::StatusOr<TransportChoice> settle(const CircuitSetup& setup, const SetupConnection& connection,
                                         const SetupAnswer& answer, Offered offered) const;

  // For the end that accepts: its end, joined to one of those offered, and what the answer says of it.
  // InvalidArgument: what is offered cannot be, and why.
  struct Joined {
    TransportChoice choice;
    std::optional<TransportOffer> answer;
  };
  absl::StatusOr<Joined> join(const CircuitSetup& setup, const SetupConnection& connection) const;

 private:
  TransportChoice over_connection(std::string why) const { return {connection_end_(), std::move(why)}; }

  std::vector<std::unique_ptr<Transport>> list_;
  MakeConnectionEnd connection_end_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_TRANSPORT_NEGOTIATOR_H_
