#include "sim/workload/schedule_progress.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cableway::workload {
namespace {

bool is_local(const Step& step) {
  return step.kind == StepKind::kAdd || step.kind == StepKind::kCopy;
}

LaneKey lane_of(const Step& step) {
  return {step.kind == StepKind::kSend, step.peer, step.channel};
}

}  // namespace

std::vector<LaneKey> lanes_of(const Schedule& schedule) {
  std::set<LaneKey> keys;
  for (const Step& step : schedule.steps) {
    if (!is_local(step)) keys.insert(lane_of(step));
  }
  return {keys.begin(), keys.end()};
}

void ScheduleProgress::Cursor::advance(std::size_t steps) {
  ++count;
  if (++index == steps) {
    index = 0;
    ++operation;
  }
}

void ScheduleProgress::prepare(Schedule schedule) {
  schedule_ = std::move(schedule);
  index_dependents();
  gather_lanes();
  for (Open& open : open_) open.waiting.resize(schedule_.steps.size());
  adds_.reserve(kOperationsOpen * local_steps_.size());
  copies_.reserve(local_steps_.size());
  ready_lanes_.reserve(lanes_.size());
}

void ScheduleProgress::index_dependents() {
  const std::size_t count = schedule_.steps.size();
  dependency_counts_.assign(count, 0);
  first_dependent_.assign(count + 1, 0);
  dependents_.resize(schedule_.dependencies.size());
  for (StepIndex dependency : schedule_.dependencies) ++first_dependent_[dependency + 1];
  for (std::size_t i = 0; i < count; ++i) first_dependent_[i + 1] += first_dependent_[i];
  std::vector<std::uint32_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  for (StepIndex i = 0; i < count; ++i) {
    const Step& step = schedule_.steps[i];
    dependency_counts_[i] = step.dependency_count;
    for (std::uint32_t d = 0; d < step.dependency_count; ++d) {
      dependents_[next[schedule_.dependencies[step.first_dependency + d]]++] = i;
    }
  }
}

void ScheduleProgress::gather_lanes() {
  const std::vector<LaneKey> keys = lanes_of(schedule_);
  lanes_.assign(keys.size(), Lane{});
  for (std::size_t i = 0; i < keys.size(); ++i) lanes_[i].key = keys[i];
  local_steps_.clear();
  lane_of_step_.assign(schedule_.steps.size(), 0);
  for (StepIndex i = 0; i < schedule_.steps.size(); ++i) {
    const Step& step = schedule_.steps[i];
    if (is_local(step)) {
      local_steps_.push_back(i);
    } else {
      const auto place = std::lower_bound(keys.begin(), keys.end(), lane_of(step)) - keys.begin();
      lane_of_step_[i] = static_cast<LaneIndex>(place);
      lanes_[lane_of_step_[i]].steps.push_back(i);
    }
  }
}

void ScheduleProgress::start(std::uint64_t operations) {
  operations_ = operations;
  opened_ = 0;
  running_ = 0;
  settled_ = 0;
  finished_.store(0, std::memory_order_relaxed);
  adds_.clear();
  copies_.clear();
  ready_lanes_.clear();
  for (Lane& lane : lanes_) {
    lane.posted = {};
    lane.completed = {};
    lane.ready = false;
  }
  note_all_lanes();
  while (opened_ < std::min(operations_, kOperationsOpen)) open_operation(opened_++);
  if (operations_ > 0) begin_local_steps(0);
}

void ScheduleProgress::open_operation(std::uint64_t operation) {
  Open& opened = open(operation);
  std::copy(dependency_counts_.begin(), dependency_counts_.end(), opened.waiting.begin());
  opened.incomplete = schedule_.steps.size();
  opened.unsettled = schedule_.steps.size();
}

void ScheduleProgress::note_local(const Due& due) {
  (step(due).kind == StepKind::kCopy ? copies_ : adds_).push_back(due);
}

void ScheduleProgress::begin_local_steps(std::uint64_t operation) {
  for (StepIndex step : local_steps_) {
    if (open(operation).waiting[step] == 0) note_local({operation, step});
  }
}

void ScheduleProgress::note_lane(LaneIndex lane) {
  if (!std::exchange(lanes_[lane].ready, true)) ready_lanes_.push_back(lane);
}

void ScheduleProgress::note_all_lanes() {
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane) note_lane(lane);
}

std::optional<ScheduleProgress::LaneIndex> ScheduleProgress::take_ready_lane() {
  if (ready_lanes_.empty()) return std::nullopt;
  const LaneIndex lane = ready_lanes_.back();
  ready_lanes_.pop_back();
  lanes_[lane].ready = false;
  return lane;
}

std::optional<ScheduleProgress::Due> ScheduleProgress::take(std::vector<Due>& list) {
  if (list.empty()) return std::nullopt;
  const Due due = list.back();
  list.pop_back();
  return due;
}

std::optional<ScheduleProgress::Due> ScheduleProgress::due(LaneIndex index) const {
  const Lane& lane = lanes_[index];
  if (lane.posted.count - lane.completed.count >= in_flight_) return std::nullopt;
  const std::uint64_t operation = lane.posted.operation;
  if (operation >= opened_ || (lane.key.sending && operation > running_)) return std::nullopt;
  const Due next = at(lane, lane.posted);
  if (open(operation).waiting[next.step] != 0) return std::nullopt;
  return next;
}

void ScheduleProgress::posted(LaneIndex index) {
  Lane& lane = lanes_[index];
  if (lane.key.sending) --open(lane.posted.operation).unsettled;
  lane.posted.advance(lane.steps.size());
}

void ScheduleProgress::completed(LaneIndex index) {
  Lane& lane = lanes_[index];
  const Due due = at(lane, lane.completed);
  lane.completed.advance(lane.steps.size());
  note_lane(index);
  complete(due);
}

void ScheduleProgress::complete(const Due& due) {
  Open& current = open(due.operation);
  --current.incomplete;
  if (step(due).kind != StepKind::kSend) --current.unsettled;
  for (std::uint32_t i = first_dependent_[due.step]; i < first_dependent_[due.step + 1]; ++i) {
    const StepIndex dependent = dependents_[i];
    if (--current.waiting[dependent] != 0) continue;
    if (!is_local(schedule_.steps[dependent])) {
      note_lane(lane_of_step_[dependent]);
    } else if (due.operation <= running_) {
      note_local({due.operation, dependent});
    }  // otherwise begin_local_steps() finds it
  }
}

ScheduleProgress::Advance ScheduleProgress::advance() {
  Advance done;
  if (settled_ == running_ && running_ < operations_ && open(running_).unsettled == 0) {
    ++settled_;
    done = {true, true};
  }
  if (settled_ > running_ && running_ + 1 < opened_) {
    begin_local_steps(++running_);
    done.moved = true;
  }
  const std::uint64_t oldest = finished();
  if (oldest < settled_ && open(oldest).incomplete == 0) {
    finished_.store(oldest + 1, std::memory_order_relaxed);
    if (opened_ < operations_) open_operation(opened_++);
    done.moved = true;
  }
  if (done.moved) note_all_lanes();
  return done;
}

}  // namespace cableway::workload
