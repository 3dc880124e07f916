// Ranks that execute their schedules (workload/schedule.h) over circuits in virtual time, as NCCL's proxies do: every
// connection of a schedule is a flow along the paths that the rank's node offers (flow_routing.h), with a limited
// number of messages in flight; reducing and copying take no time. A flow whose circuits end takes another path, if one
// is left.
#ifndef CABLEWAY_SIM_PREDICTION_COLLECTIVE_RUN_H_
#define CABLEWAY_SIM_PREDICTION_COLLECTIVE_RUN_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "routing/paths/path.h"
#include "routing/topology/topology.h"
#include "sim/prediction/circuit_world.h"
#include "sim/prediction/flow_routing.h"
#include "sim/prediction/path_chooser.h"
#include "sim/prediction/settled_numbers.h"
#include "sim/workload/schedule.h"
#include "sim/workload/schedule_progress.h"

namespace cableway::sim {

struct CollectiveFacts {
  std::uint64_t in_flight = 8;   // messages per connection, as NCCL's steps
  std::uint64_t operations = 1;  // each starts as soon as the rank's previous one permits
  // The time from when a source notices that its circuit has ended until the next one is set up. Noticing and set-up
  // together took a few milliseconds in network namespaces (docs/benchmarks.md, failover).
  Duration set_up{std::chrono::milliseconds(4)};
};

class CollectiveRun {
 public:
  // One rank for each of `nodes`; `schedules[r]` is rank r's. World and paths outlive this.
  CollectiveRun(CircuitWorld& world, PathChooser& paths, const std::vector<routing::NodeIndex>& nodes,
                std::vector<workload::Schedule> schedules, const CollectiveFacts& facts);
  ~CollectiveRun();

  // Its flows, in the order in which open() asks `paths` for them.
  std::vector<FlowDemand> demands() const;
  // Sets up the circuits of all flows. The error, if two nodes have no path between them, names the ranks and nodes.
  absl::Status open();

  // Called once, from within a link's wake() or the clock, when the run has finished or a flow has no path left.
  void when_ended(std::function<void()> call) { when_ended_ = std::move(call); }
  // Posts what can be posted now; the rest follows as the clock runs.
  void start();
  bool finished() const { return unfinished_ == 0; }
  // By operation: when all ranks had completed it. Contains completed operations only.
  const std::vector<Instant>& completions() const { return completions_; }
  // OK, or why a flow has no path left before the run was finished.
  const absl::Status& status() const { return status_; }
  std::size_t flows() const { return flows_.size(); }
  // The number of circuits of all flows since the start.
  std::size_t circuits() const;
  // The number of messages sent or received so far, and the total, over all operations.
  std::uint64_t messages_done() const { return messages_done_; }
  std::uint64_t messages() const;
  // In the order of time.
  const std::vector<FlowReroute>& reroutes() const { return reroutes_; }
  // What was sent again after circuits had ended.
  std::uint64_t bytes_again() const;
  // The flows that are not finished, and that have a circuit over one of `cables` (FlowRouting::circuit_over()).
  std::vector<RankFlow> unfinished_flows_over(const std::vector<routing::CableIndex>& cables) const;

 private:
  class Rank;
  class Flow;
  using LaneVisitor =
      std::function<void(int rank, workload::ScheduleProgress::LaneIndex lane, const workload::LaneKey& key)>;

  void connect(const std::vector<routing::NodeIndex>& nodes);
  void for_each_lane(const LaneVisitor& visit) const;
  void add_flow(const FlowRouting::Facts& facts, workload::ScheduleProgress::LaneIndex sending,
                workload::ScheduleProgress::LaneIndex receiving);
  void note_sent(Flow& flow);
  void fail_without_path(Flow& flow);
  void note_finished(std::uint64_t operation);
  void stop();
  void fail(absl::Status status);

  CircuitWorld& world_;
  PathChooser& paths_;
  const CollectiveFacts facts_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::size_t unfinished_ = 0;                 // ranks
  std::vector<std::size_t> unfinished_ranks_;  // ranks, by operation
  std::vector<Instant> completions_;
  std::uint64_t messages_done_ = 0;
  std::vector<FlowReroute> reroutes_;
  absl::Status status_;
  std::function<void()> when_ended_ = [] {};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_COLLECTIVE_RUN_H_
