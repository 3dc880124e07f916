// Sets up the circuits of one flow at its source: the first, another one whenever none is alive, a standby where the
// flow wants one, and its bundle where the flow carries much.
//
//   start() --> find paths --> dial one --> Flow::join() --> alive
//                  ^              | failed        |
//                  |<-- pause ----+               | circuit_ended()
//                  +------------------------------+
//
// The first circuit may take as long as its limit; if each path has failed, all are tried again for a short time
// (Opening). Later circuits are tried for as long as the flow may be without a circuit while its application waits
// (Outage). Among the paths, the flow prefers the one that shares least with live circuits, then the one whose last
// failure is oldest. A path that loses packets is tried once all others have failed since the flow lost its last
// circuit. The flow ends if its destination does not know it: at once before its first circuit, later once that is
// confirmed. A flow that waits for another circuit also asks its destination over paths that carry no circuit
// (FlowInquiry).
//
// A flow looks for its best path when its node reports that paths have changed. A flow that has lost a circuit, or
// could not set one up, also does so from then on, every 2 s and later every 30 s. The circuit on the best path joins
// the others, the destination makes it the primary, and the others end, except for the standby. The flow moves only
// to a best path that has not failed for 1 s; this time doubles each time that the path fails within 30 s, up to
// 30 s. A flow that finds no better path stays where it is.
//
// A standby is a further circuit on a path with other relays if there is one, else on a parallel cable; among
// several, on the path that shares least with live circuits. Paths that have failed recently are not tried. A standby
// without a share of the chunks carries nothing until the flow loses its primary. It ends when its path is no longer
// offered (its cable drains), when its path loses packets while a better one is offered, or when it belongs to an
// earlier offer and is not needed.
//
// A striped flow may move to an alternate that is as good as its path but carries less load (path_balance.h). It then
// asks for the paths of a later flow to the same node, since the node spreads flows over equal paths.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_CIRCUITS_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_CIRCUITS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_dial.h"
#include "core/circuit/open_hop.h"
#include "core/clock.h"
#include "core/flow/circuit_load.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "core/flow_circuits/flow_inquiry.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/flow_circuits/opening.h"
#include "core/flow_circuits/outage.h"
#include "core/flow_circuits/path_balance.h"
#include "core/flow_circuits/suspects.h"
#include "core/ports/port_lost.h"

namespace cableway {

class SourceCircuits {
 public:
  // The maximum number of reported reasons why further circuits could not be set up.
  static constexpr std::size_t kMaxReasons = 16;

  // The flow's end (core/flow/flow_sender.h) with its owner.
  class Flow {
   public:
    virtual ~Flow() = default;
    // As FlowSender's functions of these names. join() consumes the reservation even if it fails.
    virtual std::optional<CircuitName> reserve() = 0;
    virtual void release(const CircuitName& reserved) = 0;
    virtual absl::Status join(const CircuitSetup& setup, OpenHop first_hop) = 0;
    virtual std::size_t live() = 0;
    // As FlowSender's. circuit_ended() is called later, as for any other end of a circuit.
    virtual void end_circuit(const CircuitName& circuit, const absl::Status& reason) = 0;
    // Whether the application has posted messages that are not done.
    virtual bool waits() = 0;
    // CircuitOwner::arrived()
    virtual std::uint64_t arrived() = 0;
    // A circuit in addition to live ones could not be set up. Called once for each reason, for at most kMaxReasons.
    virtual void lacks_circuit(const absl::Status& /*reason*/) {}
    // The flow has ended. Called once; no other callback follows. May not destroy the SourceCircuits.
    virtual void fail(const absl::Status& reason) = 0;
  };
  struct Limits {
    std::chrono::milliseconds open;       // time limit of the first circuit
    std::chrono::milliseconds path_wait;  // maximum time without a circuit later; 0: the flow ends with its last one
    std::uint32_t chunk_bytes = 0;
    // What stripe() sets up: nothing, the bundle, or the bundle and alternates.
    CircuitShare shares = CircuitShare::kAlternate;
  };

  // `means` and `flow` must outlive this.
  SourceCircuits(const FlowMeans& means, FlowIdentity identity, const Limits& limits, Flow& flow);
  SourceCircuits(const SourceCircuits&) = delete;
  SourceCircuits& operator=(const SourceCircuits&) = delete;

  void start();
  // A live circuit of the flow has ended.
  void circuit_ended(const CircuitName& circuit, const absl::Status& reason);
  // A port of this node is lost: a circuit being set up over it fails at once. Call this before the flow's live
  // circuits over the port end.
  void lose_port(const PortLost& lost);
  // The application has posted a message. A flow that was idle when it lost its circuits now looks for another one.
  void posted();
  // The destination, which waits for messages without a circuit, has asked whether this process still has the flow.
  void asked();
  // The flow's best path may have changed. The flow looks for it after `delay`, or earlier if it was to do so anyway.
  void paths_changed(Duration delay);
  // Sets the number of circuits to keep live, on different paths; initially 1. With more than 1, two of them differ
  // in at least one relay if there is such a path, since the cables between the same nodes may be one wire.
  void want(std::size_t circuits);
  // The flow carries much. From now on it also has circuits on the paths parallel to its first one that add
  // throughput, then on alternates that do, at most kMaxBundle in all (path_share.h).
  void stripe();
  // The present loads of the circuits' ports, from FlowSender::loads(). To be called a few times a second.
  void loads(const CircuitLoads& loads);
  // The owner has ended the flow. No callback follows.
  void stop();

 private:
  using Elements = std::vector<std::string>;
  struct Live {
    CircuitName name;
    Elements path;  // empty: not live
    std::uint8_t rank = 0;
    std::uint32_t offer = 0;
    CircuitShare share = CircuitShare::kNone;
    bool equals_first = false;  // PathOffer's
    Instant joined_at;
    bool leaving = false;  // ended by this class, for a better circuit
  };

  void find_paths();
  void have_paths(absl::StatusOr<PathOffers> offers);
  // The rank of the path to try next. nullopt: no path is worth trying.
  std::optional<std::size_t> choose(const PathOffers& offers) const;
  // The same for a standby.
  std::optional<std::size_t> choose_standby(const PathOffers& offers);
  // The same for a further path of the bundle.
  std::optional<std::size_t> choose_parallel(const PathOffers& offers);
  // Whether the first circuit may join on a path other than the chosen one.
  bool may_work_besides(const PathOffers& offers, std::size_t chosen) const;
  bool is_held_off(const Elements& path) const;
  bool has_place(std::size_t kept = 0) const;
  bool has_live_relays(const Elements& path) const;
  std::uint8_t rank_for(std::size_t place) const;
  const Live* preferred() const;
  // How a circuit on this path shares the flow's chunks.
  CircuitShare share_of(const PathOffer& path) const;
  // Whether a circuit of the bundle uses a path that is not among the offers, or has a share other than its offer's.
  bool bundle_has_left(const PathOffers& offers) const;
  static bool stays(const Live& live) { return !live.path.empty() && !live.leaving; }
  // Whether the number of circuits that stay is at least the wanted number, and two of them have different relays.
  bool has_standby(const Live* left_out = nullptr) const;
  bool is_bundled(const Live& live) const {
    return !live.path.empty() && live.share != CircuitShare::kNone && live.offer == offer_;
  }
  // Whether the circuit carries the flow, or is in the bundle of the circuit that does.
  static bool carries_with(const Live& live, const Live& carries) {
    const bool share = live.share != CircuitShare::kNone && carries.share != CircuitShare::kNone;
    return &live == &carries || (share && live.offer == carries.offer);
  }
  bool has_first() const;
  void suspect(const Elements& path);
  const Live* find_live(const Elements& path) const;  // nullptr: no live circuit uses the path
  bool is_live(const Elements& path) const;
  std::size_t shared_with_live(const Elements& path) const;
  void dial(const CircuitName& circuit, const PathOffer& path, std::uint8_t rank, std::uint32_t offer);
  void dialed(absl::StatusOr<OpenHop> hop);
  void dial_failed(const absl::Status& reason);
  void failed(const absl::Status& reason);
  void report_further(const absl::Status& reason);
  void no_path(const absl::Status& answer);
  void pause();
  void retry_after(Duration pause);
  void watch();
  void cancel_further();
  void look_for_further();
  void look_for_better();
  const Live* least_loaded_equal(const CircuitLoads& loads) const;
  void move_to(const Elements& path);
  void give_up_move();
  void have_better(const absl::StatusOr<PathOffers>& offers);
  void keep_looking();
  void look_again();
  void look_after(Duration delay);
  void end_worse();
  void end_not_offered(const PathOffers& offers);
  bool has_better_standby(const PathOffers& offers) const;
  void make_place();
  void leave(Live& live, const char* reason);
  void end(const absl::Status& reason);

  Clock& clock() const { return means_.dial.clock; }

  const FlowMeans& means_;
  const FlowIdentity identity_;
  const Limits limits_;
  Flow& flow_;
  std::size_t wanted_ = 1;
  bool opened_ = false;  // the flow has had a circuit
  bool asked_ = false;   // the destination has asked since the flow lost its circuits
  bool over_ = false;
  bool finding_ = false;
  bool striped_ = false;
  bool looks_for_parallels_ = false;  // for paths of the bundle without a circuit
  bool looks_for_standby_ = false;
  Opening opening_;
  bool leaves_time_ = false;  // the first circuit's dial leaves time to other paths
  const Duration open_again_pause_;
  std::unique_ptr<Timer> retry_limit_;

  CircuitSetup setup_;        // of the circuit being dialed
  bool dials_equal_ = false;  // its path equals the first one offered
  bool dials_beside_others_ = false;
  std::unique_ptr<HopDial> dial_;
  std::array<Live, kMaxFlowCircuits> live_;  // by slot
  Suspects suspects_;
  std::set<std::string> further_failures_;  // those already reported
  Duration pause_;
  std::unique_ptr<Timer> retry_;

  std::size_t short_lives_ = 0;  // number of successive circuits that ended soon
  Duration hold_off_;            // the best path must not have failed for this time
  Duration further_hold_off_;    // the same for paths of further circuits; doubled with each failure
  bool keeps_looking_ = false;   // looks for its best path without a reported change
  std::size_t looks_ = 0;        // number of looks since a circuit was lost
  std::unique_ptr<Timer> look_;
  Instant look_at_;
  std::uint32_t offer_ = 0;  // of the newest circuit on a best path
  PathBalance balance_;
  std::uint64_t turn_ = 0;  // the flow uses the paths of the flow this many ordinals after it
  // A move to an equal path. The flow looks for the turn whose first path is this one, and dials it. If that fails,
  // the flow returns to its earlier turn.
  struct Move {
    Elements path;
    std::uint64_t turn_before = 0;
    std::size_t turns_left = 0;
  };
  std::optional<Move> move_;
  std::unique_ptr<Timer> end_worse_;

  Outage outage_;
  std::optional<Instant> without_since_;  // since when the flow has had no circuit
  std::unique_ptr<Timer> watch_;
  FlowInquiry inquiry_;
  // Expires with this object, so that later answers are dropped.
  std::shared_ptr<char> lifetime_ = std::make_shared<char>();
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_CIRCUITS_H_
