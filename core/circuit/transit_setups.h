// Set-ups that want to pass through this node, from their arrival to the relayed circuit, or to the refusal:
//
//   arrived -> do its cables exist here? (waits a while for the topology) -> is there room? -> dial the next hop
//           -> accept the hop it came over -> the host relays
//
// Every set-up has an end: the circuit, or a refusal that says why. docs/decisions/0004 says why it travels hop by hop.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_
#define CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/circuit/hop_dial.h"
#include "core/circuit/hop_reception.h"
#include "core/circuit/open_hop.h"
#include "core/clock.h"
#include "core/event/event_sink.h"
#include "core/flow/chunk_link.h"

namespace cableway {

class TransitSetups {
 public:
  // What the node and its host do for it. None of these calls may destroy this object.
  class Host {
   public:
    virtual ~Host() = default;
    // PathPlanner::check_transit(). NotFound: the topology may have it soon.
    virtual absl::Status check_transit(const CircuitSetup& setup) = 0;
    // Circuits that are relayed now, and how many there is room for.
    virtual std::size_t circuits() const = 0;
    virtual std::size_t max_circuits() const = 0;
    // Why no other circuit fits, where `in_setup` set-ups hold room as well.
    virtual absl::Status no_room(std::size_t in_setup) const = 0;
    // The slot that is the circuit's own. ResourceExhausted: the node has none left, and why.
    virtual absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd& upstream,
                                                             const TransportEnd& downstream) = 0;
    // Both hops have been answered: relays between them from now on. A status: the circuit is lost, and why.
    virtual absl::Status relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                               std::unique_ptr<Slot> floor) = 0;
    // What became of a set-up that is no circuit: it was refused, or the circuit was lost at its last step.
    virtual void refused(const CircuitSetup& setup, const absl::Status& reason) = 0;
    virtual void lost(const CircuitSetup& setup, const absl::Status& reason) = 0;
  };

  // For this node to hear of a cable that a set-up names; half of the set-up's own time if that is less.
  static constexpr std::chrono::milliseconds kTransitLimit{2000};
  static constexpr std::size_t kMaxWaiting = 256;

  // `name` is the node's. Everything in `means`, and the host, outlive this; `events` is there when it is
  // called.
  TransitSetups(const HopDial::Means& means, Host& host, EventSink& events, std::string name)
      : means_(means), host_(host), events_(events), name_(std::move(name)) {}
  // Drops what is under way without an answer.
  ~TransitSetups() = default;
  TransitSetups(const TransitSetups&) = delete;
  TransitSetups& operator=(const TransitSetups&) = delete;

  // With which set-ups are sealed from now on (KeyUse::kCircuitSetup).
  void seal_with(std::optional<SubKey> key) { key_ = std::move(key); }
  // A set-up whose hop is not its last.
  void arrived(ArrivedSetup setup);
  // Set-ups that wait for it may pass now.
  void topology_changed() { check_waiting(); }
  // Those that hold room for a circuit.
  std::size_t in_setup() const { return waiting_.size() + dialing_.size(); }

 private:
  struct Waiting {
    ArrivedSetup setup;
    Instant deadline;
  };
  struct Dialing {
    ArrivedSetup setup;
    std::unique_ptr<HopDial> dial;
  };
  using Place = std::list<Dialing>::iterator;

  bool has_room() const;
  void check_waiting();
  void dial_onward(ArrivedSetup setup);
  void dialed(Place place, absl::StatusOr<OpenHop> downstream);
  void refuse(ArrivedSetup setup, const absl::Status& reason);
  void refused(const CircuitSetup& setup, const absl::Status& reason);
  void lost(const CircuitSetup& setup, const absl::Status& reason);
  void note_dial_ended(const CircuitSetup& setup, const absl::Status& result);

  const HopDial::Means means_;
  Host& host_;
  EventSink& events_;
  const std::string name_;
  std::optional<SubKey> key_;
  std::list<Waiting> waiting_;
  std::unique_ptr<Timer> deadline_;
  std::list<Dialing> dialing_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_
