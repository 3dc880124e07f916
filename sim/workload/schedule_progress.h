// Determines which steps of a rank's schedule may start now, with consecutive operations as on a CUDA stream. Used by
// collperf over a network in real time, and by the simulator in virtual time.
//
// Two operations are open at a time: the receives of the next are posted while the current one still runs, because
// NCCL's host runs ahead of the GPU; all other steps of the next wait until the current one has settled, i.e. has
// received and computed everything and posted all its sends, as NCCL's kernels end when the last data is handed to the
// proxy. A third opens only when the first has completed entirely, sends included.
//
// Single-threaded, except for finished(). Allocates nothing after prepare().
#ifndef CABLEWAY_SIM_WORKLOAD_SCHEDULE_PROGRESS_H_
#define CABLEWAY_SIM_WORKLOAD_SCHEDULE_PROGRESS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/schedule.h"

namespace cableway::workload {

inline constexpr std::uint64_t kOperationsOpen = 2;

// One direction of a connection.
struct LaneKey {
  bool sending = false;
  int peer = -1;
  int channel = -1;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

// The lanes of a schedule, sorted and unique.
std::vector<LaneKey> lanes_of(const Schedule& schedule);

class ScheduleProgress {
 public:
  // A step of one of the operations, which are numbered from 0.
  struct Due {
    std::uint64_t operation = 0;
    StepIndex step = 0;
  };
  using LaneIndex = std::size_t;

  // At most `in_flight` messages of a lane are posted and not completed.
  explicit ScheduleProgress(std::uint64_t in_flight) : in_flight_(in_flight) {}

  void prepare(Schedule schedule);
  const Schedule& schedule() const { return schedule_; }
  const Step& step(const Due& due) const { return schedule_.steps[due.step]; }

  // In the order of lanes_of().
  std::size_t lanes() const { return lanes_.size(); }
  const LaneKey& key(LaneIndex lane) const { return lanes_[lane].key; }

  // Restarts with the prepared schedule, to be run this many times.
  void start(std::uint64_t operations);

  // The next message of the lane if it may be posted now; posted() records that it was.
  std::optional<Due> due(LaneIndex lane) const;
  void posted(LaneIndex lane);
  // The numbers of messages of the lane posted and completed since start(), over all operations.
  std::uint64_t posted_count(LaneIndex lane) const { return lanes_[lane].posted.count; }
  std::uint64_t completed_count(LaneIndex lane) const { return lanes_[lane].completed.count; }
  // The lane's oldest message that is posted and not completed. Precondition: there is one.
  Due oldest(LaneIndex lane) const { return at(lanes_[lane], lanes_[lane].completed); }
  void completed(LaneIndex lane);
  // A lane whose due() may have a message since the lane was last returned here; spares callers from checking all
  // lanes.
  std::optional<LaneIndex> take_ready_lane();

  // An addition, or a piece of a copy, that may be done now, each returned once; computed() records that it was done.
  std::optional<Due> take_add() { return take(adds_); }
  std::optional<Due> take_copy() { return take(copies_); }
  void computed(const Due& due) { complete(due); }

  // Lets operations settle, begin and finish. To be called until nothing moves, before waiting.
  struct Advance {
    bool moved = false;
    bool settled = false;  // the running operation
  };
  Advance advance();

  std::uint64_t operations() const { return operations_; }
  std::uint64_t messages(LaneIndex lane) const { return operations_ * lanes_[lane].steps.size(); }
  // Any thread.
  std::uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }

 private:
  // A position in the sequence of a lane's messages over all operations.
  struct Cursor {
    std::uint64_t operation = 0;
    std::size_t index = 0;  // into Lane::steps
    std::uint64_t count = 0;

    void advance(std::size_t steps);
  };
  struct Lane {
    LaneKey key;
    std::vector<StepIndex> steps;
    Cursor posted;
    Cursor completed;
    bool ready = false;  // is in ready_lanes_
  };
  // The state of one open operation.
  struct Open {
    std::vector<std::uint32_t> waiting;  // by step: incomplete dependencies
    std::uint64_t incomplete = 0;        // incomplete steps
    std::uint64_t unsettled = 0;         // as above, but a send counts until it is posted
  };

  static Due at(const Lane& lane, const Cursor& cursor) { return {cursor.operation, lane.steps[cursor.index]}; }
  static std::optional<Due> take(std::vector<Due>& list);
  Open& open(std::uint64_t operation) { return open_[operation % kOperationsOpen]; }
  const Open& open(std::uint64_t operation) const { return open_[operation % kOperationsOpen]; }
  void index_dependents();
  void gather_lanes();
  void open_operation(std::uint64_t operation);
  void begin_local_steps(std::uint64_t operation);
  void note_local(const Due& due);
  void note_lane(LaneIndex lane);
  void note_all_lanes();
  void complete(const Due& due);

  const std::uint64_t in_flight_;
  Schedule schedule_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> dependency_counts_;  // by step
  std::vector<std::uint32_t> first_dependent_;    // by step, plus an end: offsets into dependents_
  std::vector<StepIndex> dependents_;
  std::vector<StepIndex> local_steps_;   // adds and copies
  std::vector<LaneIndex> lane_of_step_;  // of sends and receives

  // finished_ <= running_ < opened_ <= finished_ + kOperationsOpen.
  std::uint64_t operations_ = 0;
  std::uint64_t opened_ = 0;   // number opened: their receives may be posted
  std::uint64_t running_ = 0;  // the newest whose other steps may start
  std::uint64_t settled_ = 0;  // number settled
  std::array<Open, kOperationsOpen> open_;
  std::vector<Due> adds_;
  std::vector<Due> copies_;
  std::vector<LaneIndex> ready_lanes_;
  std::atomic<std::uint64_t> finished_{0};
};

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_SCHEDULE_PROGRESS_H_
