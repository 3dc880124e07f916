// Chooses a hop's transport: the first of a node's list that both ends of the hop have, else the connection on which it
// was set up. A device that should work and does not is an error, never a silent fallback.
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

  // `list` is ordered best first. `connection_end` makes the end of a hop that uses its own connection.
  TransportNegotiator(std::vector<std::unique_ptr<Transport>> list, MakeConnectionEnd connection_end)
      : list_(std::move(list)), connection_end_(std::move(connection_end)) {}

  // The ends that the dialing end has offered, until the answer selects one.
  struct Offered {
    struct Each {
      Transport* transport;
      std::unique_ptr<TransportEnd> end;
    };
    std::vector<Each> ends;
    std::string why_none;  // why the first transport of the list is not offered, for display
  };

  // Dialing end: puts its offers into `setup`.
  absl::StatusOr<Offered> offer(CircuitSetup& setup) const;
  // Dialing end: makes the choice according to the answer. InvalidArgument: the answer is invalid.
  absl::StatusOr<TransportChoice> settle(const CircuitSetup& setup, const SetupConnection& connection,
                                         const SetupAnswer& answer, Offered offered) const;

  // Accepting end: the end joined to an offered one, and the offer that the answer carries. InvalidArgument: the
  // offer is invalid.
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
