// The accepting end of a hop: reads the set-up or probe that opens a connection, and answers it. hop_dial.h is the
// other end.
//
//   handshake (time-limited) -> a set-up that arrived over the cable it names, or a probe -> accept_hop(), or refusal
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_

#include <chrono>
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
#include "core/crypto/setup_keys.h"

namespace cableway {

// A connection whose set-up has been read but not answered. Destroying it closes the connection without an answer.
class ArrivedSetup {
 public:
  // `seal`: seals the answer, if there is a key.
  ArrivedSetup(std::unique_ptr<SetupConnection> connection, CircuitSetup setup, std::optional<CircuitSeal> seal)
      : connection_(std::move(connection)), setup_(std::move(setup)), seal_(std::move(seal)) {}

  const CircuitSetup& setup() const { return setup_; }
  const SetupConnection& connection() const { return *connection_; }
  // Sends the answer and returns the connection. Cancelled: the peer closed it.
  absl::StatusOr<std::unique_ptr<SetupConnection>> accept(const SetupAnswer& answer) &&;
  // Of a set-up for a view: the connection, and the document as it is to be sent there, with its seal.
  struct Documented {
    std::unique_ptr<SetupConnection> connection;
    std::vector<std::byte> bytes;
  };
  Documented with_document(absl::string_view document) &&;
  // Sends the reason and closes the connection. Scope kFlow is for the flow's destination: the flow has ended, or was
  // never known there.
  void refuse(const absl::Status& reason, FailureScope scope) &&;

 private:
  std::unique_ptr<SetupConnection> connection_;
  CircuitSetup setup_;
  std::optional<CircuitSeal> seal_;
};

// A connection opened with a probe that has been checked but not answered (core/linux/hop/cable_probe.h).
struct ArrivedProbe {
  std::unique_ptr<SetupConnection> connection;
  ProbeOpening opening;
  std::optional<CircuitSeal> seal;  // seals the answer, if there is a key

  void refuse(absl::string_view reason) &&;
};

// The time limit for receiving a connection's complete set-up or probe.
inline constexpr std::chrono::milliseconds kSetupLimit{5000};

// Reads the set-up or probe of one connection. With a key, the seal is verified before any of the content is used.
// Destroying the reception closes the connection without an answer.
class HopReception {
 public:
  // Called once, never from inside start(). May destroy the reception; the function object outlives it. With an
  // error, the connection has been answered and closed.
  using Done = std::function<void(absl::StatusOr<std::variant<ArrivedSetup, ArrivedProbe>>)>;

  HopReception(Clock& clock, std::unique_ptr<SetupConnection> connection, SetupKeys keys, const Challenge& challenge);
  HopReception(const HopReception&) = delete;
  HopReception& operator=(const HopReception&) = delete;

  void start(Duration limit, Done done);
  const SetupConnection& connection() const { return *connection_; }
  // Whether the first frame's header has arrived.
  bool has_begun() const { return begun_; }
  // Ends the connection at once, without an answer; `done` is not called. Then only the destructor may be called.
  void abandon() { connection_->abandon(); }

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
  bool begun_ = false;
};

// Accepts the hop of an arrived set-up: joins its transport and answers that the circuit is open from here on.
// `prepare`, if set, is called before the answer with this end of the hop. It allocates what the circuit needs and
// returns the largest chunk that this node and the rest of the path accept; its error refuses the hop. The answer
// carries the smallest of this, the set-up's and the transport's limit. An error has been sent as the answer, with
// scope kCircuit, unless the peer has closed the connection (Cancelled).
using Prepare = std::function<absl::StatusOr<std::uint32_t>(const TransportEnd& end)>;
absl::StatusOr<OpenHop> accept_hop(ArrivedSetup arrived, const TransportNegotiator& transports, const Prepare& prepare);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_RECEPTION_H_
