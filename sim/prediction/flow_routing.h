// The circuits of one flow in a prediction: the first one, those on its other paths, and others when circuits end.
//
// They are chosen as by core/flow_circuits/source_circuits.h, but set-ups take a constant time and do not fail, and a
// flow of large messages has all of its circuits from the start, as in a job that has run for a while.
#ifndef CABLEWAY_SIM_PREDICTION_FLOW_ROUTING_H_
#define CABLEWAY_SIM_PREDICTION_FLOW_ROUTING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "routing/paths/path.h"
#include "sim/prediction/circuit_world.h"
#include "sim/prediction/path_chooser.h"

namespace cableway::sim {

// One connection of a schedule, and the path of one of its circuits.
struct RankFlow {
  int source = 0;
  int destination = 0;
  int channel = 0;
  routing::Path path;
  std::size_t circuits_before = 0;  // how many the connection had before this one

  friend bool operator==(const RankFlow&, const RankFlow&) = default;
};

// A flow that went on over other circuits.
struct FlowReroute {
  RankFlow flow;  // with the circuit that ended
  routing::Path path;
  Instant when;       // the first chunk was sent over that path
  Duration pause{0};  // until then nothing was sent, although something was to be sent
};

class FlowRouting {
 public:
  struct Facts {
    RankFlow connection;  // without a path
    routing::NodeIndex source;
    routing::NodeIndex destination;
    std::uint64_t bytes = 0;   // of all its messages in one operation
    bool sends_large = false;  // messages that may be striped (core/flow/striping.h)
    Duration set_up{0};        // of a circuit, from when the source notices that one has ended
  };

  // World and paths outlive this, and this outlives the clock's last call. `no_path`: the flow has lost its circuits,
  // none is possible, and there is something to send; called when a set-up finds that.
  FlowRouting(CircuitWorld& world, PathChooser& paths, Facts facts, std::function<void()> no_path);
  FlowRouting(const FlowRouting&) = delete;
  FlowRouting& operator=(const FlowRouting&) = delete;

  // Sets up the first circuits. All circuits wake these ends. Returns whether there is a path.
  bool open(LinkUser& source, LinkUser& destination);
  FlowSender& sender() { return routed_->sender(); }
  const FlowSender& sender() const { return routed_->sender(); }
  FlowReceiver& receiver() { return routed_->receiver(); }

  // To be called whenever the sender has made progress. Returns the reroutes that have ended by now.
  std::vector<FlowReroute> moved();
  // To be called when a message was posted.
  void posted();
  bool has_no_path() const { return has_no_path_; }
  // No further circuit is set up.
  void stop() { stopped_ = true; }

  const Facts& facts() const { return facts_; }
  std::size_t circuits() const { return made_; }
  // A circuit over one of `cables` (sorted) whose end the source has not noticed; if there are several, the one of the
  // best rank. Alternates that have carried nothing do not count.
  std::optional<RankFlow> circuit_over(const std::vector<routing::CableIndex>& cables) const;

 private:
  struct Live {
    CircuitName name;
    RankFlow connection;
    std::uint32_t bundle = 0;
    CircuitShare share = CircuitShare::kNone;
  };
  // A circuit has ended, and nothing was sent since.
  struct Loss {
    RankFlow connection;
    std::optional<Instant> since;  // when something to be sent began to wait; nullopt: nothing is to be sent
  };

  std::vector<FlowPath> paths() const;
  void note_ended();
  void note_sent(std::vector<FlowReroute>& reroutes);
  void renew();
  void join(const std::vector<FlowPath>& paths);
  bool add(const FlowPath& path);
  // Whether the newest bundle is what a flow with these paths has, except for circuits that it lacks.
  bool is_right(const std::vector<FlowPath>& paths) const;
  void change_bundle();
  void leave_old_bundles();
  void after(Duration delay, void (FlowRouting::*what)());

  CircuitWorld& world_;
  PathChooser& paths_;
  const Facts facts_;
  const std::function<void()> no_path_;
  std::uint64_t ordinal_ = 0;
  RoutedFlow* routed_ = nullptr;
  std::uint32_t bundle_ = 1;  // the newest
  std::vector<Live> live_;    // whose end the source has not noticed
  std::size_t made_ = 0;
  std::vector<Loss> losses_;
  std::uint64_t chunks_ = 0;  // that were sent
  Instant last_sent_;
  bool renewing_ = false;
  bool has_no_path_ = false;
  bool stopped_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_FLOW_ROUTING_H_
