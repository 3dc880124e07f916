// The accepting end of a hop: reads what a connection begins with, and answers it. hop_dial.h is the other end.
//
//   handshake (within a limit) -> a set-up that came over the cable it names, or a probe -> accept_hop(), or refusal
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/handshake.h"
#include "core/circuit/open_hop.h"
#include "core/circuit/setup_connection.h"
#include "core/circuit/transport_negotiator.h"
#include "core/clock.h"
#include "core/crypto/sub_key.h"

namespace cableway {

// A connection whose set-up has been read and not yet answered. Dropping it closes it without an answer.
class ArrivedSetup {
 public:
  // `seal`: of the answer, where there is a key.
  ArrivedSetup(std::unique_ptr<SetupConnection> connection, CircuitSetup setup, std::optional<CircuitSeal> seal)
      : connection_(std::move(connection)), setup_(std::move(setup)), seal_(std::move(seal)) {}

  const CircuitSetup& setup() const { return setup_; }
  const SetupConnection& connection() const { return *connection_; }
  // Answers yes and gives the connection.
  absl::StatusOr<std::unique_ptr<SetupConnection>> accept(const SetupAnswer& answer) &&;
  // Answers with the reason, and ends the connection.
  void refuse(const absl::Status& reason) &&;

 private:
  std::unique_ptr<SetupConnection> connection_;
  CircuitSetup setup_;
  std::optional<CircuitSeal> seal_;
};

// A connection that began with a probe, which has been checked and not yet answered (core/linux/hop/cable_probe.h).
struct ArrivedProbe {
  std::unique_ptr<SetupConnection> connection;
  Frame probe;
  std::optional<CircuitSeal> seal;  // of the answer, where there is a key

  void refuse(absl::string_view reason) &&;
};

// Reads what one connection begins with. Nothing in it counts before its seal is right, where there is a key. Dropping
// it closes the connection without a word.
class HopReception {
 public:
  // Called once, never from inside start(), and may drop the reception. A connection that is refused has been answered
  // and ended by then.
  using Done = std::function<void(absl::StatusOr<std::variant<ArrivedSetup, ArrivedProbe>>)>;

  HopReception(Clock& clock, std::unique_ptr<SetupConnection> connection, std::optional<SubKey> key,
               const Challenge& challenge);
  HopReception(const HopReception&) = delete;
  HopReception& operator=(const HopReception&) = delete;

  void start(Duration limit, Done done);
  const SetupConnection& connection() const { return *connection_; }

 private:
  void read_on();
  void have(const absl::Status& ended, std::span<const std::byte> bytes);
  void opened();
  absl::Status check_cable(const CircuitSetup& setup) const;
  void refuse(const absl::Status& reason);
  void finish(absl::StatusOr<std::variant<ArrivedSetup, ArrivedProbe>> result);

  Clock& clock_;
  std::unique_ptr<SetupConnection> connection_;
  AcceptHandshake handshake_;
  std::unique_ptr<Timer> limit_;
  Done done_;
};

// Takes the hop that an arrived set-up came over: joins its transport and answers that the circuit stands from here on.
// The answer is yes only if `prepare`, where there is one, says so: it sees this end of the hop, and makes what the
// answer promises. A status other than OK has been the answer, unless the other end has gone away meanwhile
// (Cancelled).
//
// `chunk_bytes`: the largest chunk that the rest of the path takes; at most what the set-up asks for.
using Prepare = std::function<absl::Status(const TransportEnd& end)>;
absl::StatusOr<OpenHop> accept_hop(ArrivedSetup arrived, const TransportNegotiator& transports,
                                   std::uint32_t chunk_bytes, const Prepare& prepare);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_
