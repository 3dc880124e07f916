// Opens one hop of a circuit: connects to the far end of the set-up's current hop, sends the set-up, and waits for the
// answer that the rest of the path is open. hop_reception.h is the other end.
//
//   offer -> connect (retried while a relay may be starting) -> handshake -> settle -> done
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_DIAL_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_DIAL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/handshake.h"
#include "core/circuit/open_hop.h"
#include "core/circuit/setup_connection.h"
#include "core/circuit/transport_negotiator.h"
#include "core/clock.h"
#include "core/crypto/sub_key.h"

namespace cableway {

// Destroying it cancels the dial; `done` is not called.
class HopDial {
 public:
  // Called once, never from inside start(), with this end of the hop or an error. The status names the two nodes, the
  // cable and the address of the hop that failed, wherever on the path that is. NotFound is used only if the flow has
  // ended (ends_flow()): the destination's process has refused the flow, or has ended. refused_for_room(): that node
  // has no room now, and may have some soon. May destroy the dial.
  //
  // Of a set-up for a view: with the document, and without a connection. cause_of() the status (handshake.h) tells
  // whether a node was silent or is of an earlier version, wherever on the path.
  using Done = std::function<void(absl::StatusOr<OpenHop>)>;

  static constexpr std::chrono::milliseconds kRetryAfter{100};

  // Dependencies; must outlive the dial.
  struct Means {
    Clock& clock;
    SetupConnector& connector;
    const TransportNegotiator& transports;
    std::function<Challenge()> challenge;  // random
  };

  // The whole dial takes at most setup.budget_ms. A refused connection is retried within that time if the hop leads
  // to a relay, whose daemon may be starting. If the last attempt with a result was refused, the dial then ends with
  // Unavailable; DeadlineExceeded: nothing has answered. If the hop leads to a process, a refusal means that the
  // process has ended.
  //
  // With a key (of KeyUse::kCircuitSetup), the set-up is sealed, and the answer must be sealed as well. If the other
  // end has another key or none, the dial fails at once, and the status names that end.
  HopDial(const Means& means, CircuitSetup setup, std::optional<SubKey> key, Done done);
  HopDial(const HopDial&) = delete;
  HopDial& operator=(const HopDial&) = delete;

  void start();

 private:
  const Hop& hop() const { return setup_.this_hop(); }
  absl::Status failed(absl::StatusCode code, absl::string_view what) const;
  // The same for a status of this end, which never ends the flow.
  absl::Status failed(const absl::Status& status) const;
  void time_over();
  void begin();
  void connect();
  void connected(absl::StatusOr<std::unique_ptr<SetupConnection>> connection);
  void send_setup();
  void send(std::vector<std::byte> bytes);
  void read_on();
  void have(const absl::Status& ended, std::span<const std::byte> bytes);
  void answered();
  absl::Status refused(const absl::Status& status) const;
  void finish(absl::StatusOr<OpenHop> result);

  const Means means_;
  CircuitSetup setup_;
  const std::optional<SubKey> key_;
  const Instant deadline_;
  Done done_;
  TransportNegotiator::Offered offered_;
  std::unique_ptr<Timer> limit_;
  std::unique_ptr<Timer> next_;  // the first step, or the next attempt to connect
  std::unique_ptr<SetupConnector::Attempt> attempt_;
  std::unique_ptr<SetupConnection> connection_;
  std::optional<DialHandshake> handshake_;
  std::string waiting_for_;
  bool was_refused_ = false;  // whether the latest attempt with a result was
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_DIAL_H_
