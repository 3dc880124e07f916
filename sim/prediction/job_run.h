// A job in virtual time: groups of ranks that execute one workload each (collective_run.h), concurrently or in
// sequence, while cables are cut. A job outlives its cables, as long as each of its flows has another path.
#ifndef CABLEWAY_SIM_PREDICTION_JOB_RUN_H_
#define CABLEWAY_SIM_PREDICTION_JOB_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/circuit_world.h"
#include "sim/prediction/collective_run.h"
#include "sim/prediction/path_chooser.h"
#include "sim/virtual_clock.h"
#include "sim/workload/schedule.h"

namespace cableway::sim {

struct JobGroup {
  std::vector<routing::NodeIndex> nodes;      // of each rank of the group
  std::vector<workload::Schedule> schedules;  // of each rank
  CollectiveFacts facts;
  std::vector<std::size_t> after;  // indices of preceding groups that have to finish before it starts
};

struct CableCut {
  routing::CableIndex cable;
  Duration when{0};  // since the start
};

// The effect of a cut. Cuts of the same instant take effect together: a cut counts as happened even if another cut of
// the same instant ended the job, and a flow over several of them is hit by each.
struct CutEffect {
  CableCut cut;
  std::vector<routing::CableIndex> wire;  // the cables that were cut, sorted: those of one wire
  bool happened = false;                  // false: the job had already ended
  struct HitFlow {
    std::size_t group = 0;
    RankFlow flow;                         // with the path over the cable
    std::optional<FlowReroute> reroute{};  // nullopt: nothing was sent after it, or no path was left
  };
  std::vector<HitFlow> hit;  // flows that were not finished
};

class JobRun {
 public:
  // World, clock and paths outlive this. `settled`: flows are on the paths on which they settle (settled_numbers.h),
  // the loads of all groups together. Status: as CollectiveRun::open().
  static absl::StatusOr<std::unique_ptr<JobRun>> create(CircuitWorld& world, VirtualClock& clock, PathChooser& paths,
                                                        std::vector<JobGroup> groups, const std::vector<CableCut>& cuts,
                                                        bool settled);

  // Starts the groups that wait for no other; the rest follows as the clock runs.
  void start();
  // All groups have finished, or a flow has no path left, which ends the job.
  bool ended() const { return unfinished_ == 0 || !status_.ok(); }
  // OK, or why a flow has no path left.
  const absl::Status& status() const { return status_; }

  struct GroupTimes {
    Instant started;
    std::vector<Instant> completions;  // as CollectiveRun::completions()
  };
  GroupTimes times(std::size_t group) const;
  std::vector<CutEffect> cuts() const;
  // What was sent again after circuits had ended.
  std::uint64_t bytes_again() const;
  std::size_t flows() const;
  // The number of circuits of all flows since the start.
  std::size_t circuits() const;
  // The number of messages that all ranks send, over all operations.
  std::uint64_t messages() const { return messages_ / 2; }
  // The share of all messages that are done: 0 to 1.
  double share_done() const;

 private:
  struct Group {
    std::unique_ptr<CollectiveRun> run;
    Instant started;
    std::size_t waits_for = 0;  // groups
    std::vector<std::size_t> followers;
  };

  JobRun(CircuitWorld& world, VirtualClock& clock, PathChooser& paths) : world_(world), clock_(clock), paths_(paths) {}
  void add(std::unique_ptr<CollectiveRun> run, const std::vector<std::size_t>& after);
  void settle();
  void start_soon(std::size_t group);
  void note_ended(std::size_t group);
  void cut_at(Duration when);
  bool is_hit_before(std::size_t group, const RankFlow& flow, Duration when) const;

  CircuitWorld& world_;
  VirtualClock& clock_;
  PathChooser& paths_;
  std::vector<Group> groups_;
  std::vector<CutEffect> cuts_;
  std::size_t unfinished_ = 0;
  std::uint64_t messages_ = 0;  // sent and received
  absl::Status status_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_JOB_RUN_H_
