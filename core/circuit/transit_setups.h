// Set-ups of circuits that this node is to relay, from their arrival to the relayed circuit or the refusal:
//
//   arrived -> check for room -> check its cables (waits a while for the topology) -> dial the next hop
//           -> accept the hop it arrived over -> the host relays
//
// Every set-up ends as a circuit, or for a view with a document, or with a refusal and its reason. Why set-ups travel
// hop by hop: docs/decisions/0004. Room is shared out among the ports, and the neighbours there, that set-ups come
// from: docs/decisions/0028.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_
#define CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/circuit/document_answers.h"
#include "core/circuit/hop_dial.h"
#include "core/circuit/hop_reception.h"
#include "core/circuit/open_hop.h"
#include "core/clock.h"
#include "core/event/event_sink.h"
#include "core/flow/chunk_link.h"
#include "core/neighbour_shares.h"
#include "core/ports/port_lost.h"

namespace cableway {

class TransitSetups {
 public:
  // Implemented by the node and its host. None of these calls may destroy the TransitSetups.
  class Host {
   public:
    virtual ~Host() = default;
    // Node::check_transit(). NotFound: the topology may have the cable soon, a flooded drain may end, or
    // the neighbour may announce the TCP port.
    virtual absl::Status check_transit(const CircuitSetup& setup) = 0;
    // The neighbour at the other end of the connection, and the port to it, by the two addresses. ShareHolder(): none
    // that is up.
    virtual ShareHolder neighbour_at(const SetupConnection& connection) const = 0;
    // Those that are up.
    virtual std::set<ShareHolder> neighbours() const = 0;
    // Circuits relayed now, and their maximum.
    virtual std::size_t circuits() const = 0;
    virtual std::size_t max_circuits() const = 0;
    // The error for a node without room for another circuit; `in_setup` set-ups hold room as well.
    virtual absl::Status no_room(std::size_t in_setup) const = 0;
    // Allocates the circuit's floor. ResourceExhausted: the node has no memory for another one.
    virtual absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd& upstream,
                                                             const TransportEnd& downstream) = 0;
    // Both hops are open: starts relaying between them. On error the circuit is lost.
    virtual absl::Status relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                               std::unique_ptr<Slot> floor) = 0;
    // The set-up made no circuit: it was refused, or the circuit was lost in the last step. Not called for inquiries
    // and views.
    virtual void refused(const CircuitSetup& setup, const absl::Status& reason) = 0;
    virtual void lost(const CircuitSetup& setup, const absl::Status& reason) = 0;
  };

  // How long a set-up waits until the topology has a cable that it names. At most half of the set-up's own time.
  static constexpr std::chrono::milliseconds kTransitLimit{2000};
  static constexpr std::size_t kMaxWaiting = 256;
  // While its neighbour has no room for another one, a set-up that is not open after this time gives way to a newer
  // one, if it is one of many: its destination may never answer.
  static constexpr std::chrono::milliseconds kGivesWayAfter{2000};
  static constexpr std::size_t kMany = 32;
  // How many of a relay's places set-ups may hold that are not open yet: seven eighths, or all of a small relay's.
  static constexpr std::size_t max_in_setup(std::size_t max_circuits) {
    return std::max(max_circuits - max_circuits / 8, std::min<std::size_t>(max_circuits, 64));
  }

  // `name` is the node's. Everything in `means`, and the host, must outlive this; `events` must be valid whenever an
  // event is raised.
  TransitSetups(const HopDial::Means& means, Host& host, EventSink& events, std::string name)
      : means_(means), host_(host), events_(events), name_(std::move(name)), documents_(means.clock) {}
  // Cancels pending set-ups without an answer.
  ~TransitSetups() = default;
  TransitSetups(const TransitSetups&) = delete;
  TransitSetups& operator=(const TransitSetups&) = delete;

  // The key that seals set-ups from now on (KeyUse::kCircuitSetup).
  void seal_with(std::optional<SubKey> key) { key_ = std::move(key); }
  // Requires a set-up whose hop is not its last.
  void arrived(ArrivedSetup setup);
  // A port of this node is lost: set-ups in progress over it are refused at once, except for flows' first ones.
  void lose_port(const PortLost& lost);
  // A circuit that the host relayed has ended.
  void circuit_ended(const CircuitSetup& setup);
  // check_transit() may have another answer: checks the waiting set-ups again.
  void topology_changed() { check_waiting(); }
  // The number of set-ups that hold room for a circuit.
  std::size_t in_setup() const { return in_setup_.all(); }
  // Inquiries on their way to the next node. They need no such room: a full relay passes them on, too.
  std::size_t inquiries() const { return inquiries_.all(); }
  // The most of them that have come from one neighbour, and from all, shared out like places.
  static constexpr std::size_t kMaxInquiries = 128;
  static constexpr std::size_t kMaxInquiriesOfAll = 512;
  // Set-ups for views on their way, and their documents on the way back. They need no room for a circuit either.
  std::size_t views() const { return views_.all(); }
  // The same for them. Each may hold a document of kMaxDocumentBytes for as long as kViewLimit.
  static constexpr std::size_t kMaxViews = 64;
  static constexpr std::size_t kMaxViewsOfAll = 256;

 private:
  struct Waiting {
    ArrivedSetup setup;
    HeldPlaces::Place waits;
    HeldPlaces::Place held;  // one of inquiries_ or of in_setup_; views do not wait
    Instant arrived;
    Instant deadline;
  };
  struct Dialing {
    ArrivedSetup setup;
    HeldPlaces::Place held;
    Instant since;
    std::unique_ptr<HopDial> dial;
  };
  using Place = std::list<Dialing>::iterator;
  using HopAddresses = std::pair<std::string, std::string>;  // of the hop that a set-up arrived over

  static HopAddresses addresses_of(const CircuitSetup& setup) {
    return {setup.this_hop().from_address, setup.this_hop().to_address};
  }

  HeldPlaces& held_by(const CircuitSetup& setup) {
    if (setup.purpose == SetupPurpose::kView) return views_;
    return setup.purpose == SetupPurpose::kInquiry ? inquiries_ : in_setup_;
  }
  absl::Status check_room(const CircuitSetup& setup, const ShareHolder& upstream) const;
  // For set-ups that become no circuit, which have places of their own.
  struct PassedOn {
    const HeldPlaces& held;
    std::size_t most;  // from one neighbour
    std::size_t most_of_all;
    absl::string_view what;
  };
  absl::Status check_passed_on(const PassedOn& kind, const ShareHolder& upstream) const;
  absl::Status check_share(const ShareHolder& upstream) const;
  absl::Status make_room(const CircuitSetup& setup, const ShareHolder& upstream);
  bool give_way(const CircuitSetup& to, const ShareHolder& upstream);
  void wait_for_topology(ArrivedSetup setup, const ShareHolder& upstream, const absl::Status& why);
  void check_waiting();
  void dial_onward(ArrivedSetup setup, const ShareHolder& upstream, Instant arrived);
  void dialed(Place place, absl::StatusOr<OpenHop> downstream);
  // Refuses for a fault that this node has found. ResourceExhausted: it has no room, and the set-up may be sent again.
  void refuse(ArrivedSetup setup, const absl::Status& reason) {
    refuse(std::move(setup), reason, absl::IsResourceExhausted(reason) ? FailureScope::kBusy : FailureScope::kCircuit);
  }
  void refuse(ArrivedSetup setup, const absl::Status& reason, FailureScope scope);
  void refused(const CircuitSetup& setup, const absl::Status& reason);
  void lost(const CircuitSetup& setup, const absl::Status& reason);
  void note(EventCode code, const CircuitSetup& setup, absl::string_view what, EventFields more = {});
  void note_dial_ended(const CircuitSetup& setup, const absl::Status& result);

  const HopDial::Means means_;
  Host& host_;
  EventSink& events_;
  const std::string name_;
  std::optional<SubKey> key_;
  // By the port and the neighbour that the set-ups have come from.
  HeldPlaces open_;  // circuits that the host relays
  std::multimap<HopAddresses, HeldPlaces::Place> open_places_;
  HeldPlaces in_setup_;
  HeldPlaces inquiries_;
  HeldPlaces views_;
  HeldPlaces waits_;  // of those in inquiries_ and in_setup_
  DocumentAnswers documents_;
  std::list<Waiting> waiting_;
  std::unique_ptr<Timer> deadline_;
  std::list<Dialing> dialing_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_TRANSIT_SETUPS_H_
