#include "tools/collperf/engine.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::collperf {

using workload::StepKind;

namespace {

namespace abi = nccl::abi;

constexpr std::size_t kMostDurations = std::size_t{1} << 20;
constexpr std::size_t kMostStuckNamed = 8;

bool is_local(const Step& step) {
  return step.kind == StepKind::kAdd || step.kind == StepKind::kCopy;
}

// Two functions, because a compiler vectorises a loop over arrays that it can tell apart or that are the same.
void add_in_place(std::uint32_t* target, const std::uint32_t* addend, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) target[i] += addend[i];
}

void add_into(std::uint32_t* target, const std::uint32_t* source, const std::uint32_t* addend, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) target[i] = source[i] + addend[i];
}

}  // namespace

void Engine::Cursor::advance(std::size_t steps) {
  ++count;
  if (++index == steps) {
    index = 0;
    ++operation;
  }
}

template <typename Call>
abi::Result Engine::guard(const char* name, Call call) {
  control_.call.store(name, std::memory_order_relaxed);
  const abi::Result result = call();
  control_.call.store(nullptr, std::memory_order_relaxed);
  return result;
}

void Engine::prepare(Schedule schedule, const ConnectionTable& connections) {
  schedule_ = std::move(schedule);
  const std::size_t count = schedule_.steps.size();
  dependency_counts_.assign(count, 0);
  first_dependent_.assign(count + 1, 0);
  dependents_.resize(schedule_.dependencies.size());
  local_steps_.clear();
  for (StepIndex dependency : schedule_.dependencies) ++first_dependent_[dependency + 1];
  for (std::size_t i = 0; i < count; ++i) first_dependent_[i + 1] += first_dependent_[i];

  std::vector<std::uint32_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  std::map<ConnectionKey, Lane> lanes;
  for (StepIndex i = 0; i < count; ++i) {
    const Step& step = schedule_.steps[i];
    dependency_counts_[i] = step.dependency_count;
    for (std::uint32_t d = 0; d < step.dependency_count; ++d) {
      dependents_[next[schedule_.dependencies[step.first_dependency + d]]++] = i;
    }
    if (is_local(step)) {
      local_steps_.push_back(i);
      continue;
    }
    const ConnectionKey key{step.kind == StepKind::kSend, step.peer, step.channel};
    Lane& lane = lanes[key];
    lane.key = key;
    lane.steps.push_back(i);
  }

  lanes_.clear();
  for (auto& [key, lane] : lanes) {
    lane.connection = &connections.get(key);
    lane.requests.resize(static_cast<std::size_t>(settings_.in_flight));
    lanes_.push_back(std::move(lane));
  }
  for (Open& open : open_) open.waiting.resize(count);
  ready_.reserve(local_steps_.size());
  copies_.reserve(local_steps_.size());
}

void Engine::reset_statistics() {
  durations_.clear();
  durations_.reserve(kMostDurations);
  bytes_sent_ = 0;
}

std::uint8_t* Engine::at(Location location, std::uint64_t operation) const {
  return memory_.area(area_of(location.region, operation)).data + location.offset;
}

void* Engine::mhandle_of(const Lane& lane, Location location, std::uint64_t operation) const {
  return lane.connection->mhandles[static_cast<std::size_t>(area_of(location.region, operation))];
}

Engine::Outcome Engine::fail(absl::Status error) {
  error_ = std::move(error);
  return Outcome::kFailed;
}

void Engine::start_run(std::uint64_t operations) {
  operations_ = operations;
  opened_ = 0;
  running_ = 0;
  settled_ = 0;
  finished_.store(0, std::memory_order_relaxed);
  error_ = absl::OkStatus();
  ready_.clear();
  copies_.clear();
  for (Lane& lane : lanes_) {
    lane.posted = {};
    lane.completed = {};
  }
  settled_at_ = Clock::now();
  while (opened_ < std::min<std::uint64_t>(operations_, kOperationsOpen)) open_operation(opened_++);
  if (operations_ > 0) start_local_steps(0);
}

void Engine::open_operation(std::uint64_t operation) {
  Open& open = open_[operation % kOperationsOpen];
  std::ranges::copy(dependency_counts_, open.waiting.begin());
  open.incomplete = schedule_.steps.size();
  open.unsettled = schedule_.steps.size();
}

void Engine::start_local_steps(std::uint64_t operation) {
  const Open& open = open_[operation % kOperationsOpen];
  for (StepIndex step : local_steps_) {
    if (open.waiting[step] != 0) continue;
    (schedule_.steps[step].kind == StepKind::kCopy ? copies_ : ready_).push_back(step);
  }
  run_ready(operation);
}

void Engine::compute(const Step& step, std::uint64_t operation) {
  std::uint8_t* const target = at(step.target, operation);
  const std::uint8_t* const source = at(step.source, operation);
  if (step.kind == StepKind::kCopy) {
    std::memcpy(target, source, step.bytes);
    return;
  }
  auto* const words = reinterpret_cast<std::uint32_t*>(target);
  const auto* const addend = reinterpret_cast<const std::uint32_t*>(at(step.addend, operation));
  if (target == source) {
    add_in_place(words, addend, step.bytes / sizeof(std::uint32_t));
  } else {
    add_into(words, reinterpret_cast<const std::uint32_t*>(source), addend, step.bytes / sizeof(std::uint32_t));
  }
}

void Engine::complete(std::uint64_t operation, StepIndex step) {
  Open& open = open_[operation % kOperationsOpen];
  --open.incomplete;
  if (schedule_.steps[step].kind != StepKind::kSend) --open.unsettled;
  for (std::uint32_t i = first_dependent_[step]; i < first_dependent_[step + 1]; ++i) {
    const StepIndex dependent = dependents_[i];
    if (--open.waiting[dependent] != 0 || !is_local(schedule_.steps[dependent])) continue;
    if (operation <= running_) ready_.push_back(dependent);  // else start_local_steps() finds it
  }
}

void Engine::run_ready(std::uint64_t operation) {
  while (!ready_.empty()) {
    const StepIndex step = ready_.back();
    ready_.pop_back();
    compute(schedule_.steps[step], operation);
    complete(operation, step);
  }
}

bool Engine::run_one_copy() {
  if (copies_.empty()) return false;
  const StepIndex step = copies_.back();
  copies_.pop_back();
  compute(schedule_.steps[step], running_);
  complete(running_, step);
  run_ready(running_);
  return true;
}

bool Engine::may_post(const Lane& lane) const {
  if (lane.posted.count - lane.completed.count >= lane.requests.size()) return false;
  const std::uint64_t operation = lane.posted.operation;
  if (operation >= opened_ || (lane.key.sending && operation > running_)) return false;
  return open_[operation % kOperationsOpen].waiting[lane.steps[lane.posted.index]] == 0;
}

Engine::Outcome Engine::post_one(Lane& lane, const Step& step, std::uint64_t operation, void** request) {
  void* const comm = lane.connection->comm;
  if (lane.key.sending) {
    const abi::Result result = guard("isend", [&] {
      return net_.isend(comm, at(step.source, operation), step.bytes, mhandle_of(lane, step.source, operation),
                        request);
    });
    if (result != abi::kSuccess) return fail(result_error(result, absl::StrCat("isend ", describe(lane.key))));
    return Outcome::kMoved;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): NCCL's interface wants a number for a pointer
  void* const hint = reinterpret_cast<void*>(abi::kOptionalRecvCompletion);
  if (settings_.recv_hint && net_.abi_version() >= 9) *request = hint;
  const abi::Result result = guard("irecv", [&] {
    return net_.irecv(comm, at(step.target, operation), step.capacity, mhandle_of(lane, step.target, operation),
                      request);
  });
  if (result != abi::kSuccess) return fail(result_error(result, absl::StrCat("irecv ", describe(lane.key))));
  if (*request == hint) {
    return fail(absl::InternalError(
        absl::StrCat("irecv ", describe(lane.key), " left NCCL's hint in *request, which NCCL takes for a request")));
  }
  return Outcome::kMoved;
}

Engine::Outcome Engine::post(Lane& lane) {
  Outcome outcome = Outcome::kIdle;
  while (may_post(lane)) {
    const std::uint64_t operation = lane.posted.operation;
    const Step& step = schedule_.steps[lane.steps[lane.posted.index]];
    void* request = nullptr;
    if (post_one(lane, step, operation, &request) == Outcome::kFailed) return Outcome::kFailed;
    if (request == nullptr) break;  // "not now"
    lane.requests[lane.posted.count % lane.requests.size()] = request;
    lane.posted.advance(lane.steps.size());
    if (lane.key.sending) {
      --open_[operation % kOperationsOpen].unsettled;
      bytes_sent_ += step.bytes;
    }
    outcome = Outcome::kMoved;
  }
  return outcome;
}

Engine::Outcome Engine::test_oldest(Lane& lane) {
  constexpr int kNotWritten = -1;
  Outcome outcome = Outcome::kIdle;
  while (lane.completed.count < lane.posted.count) {
    void* const request = lane.requests[lane.completed.count % lane.requests.size()];
    std::array<int, abi::kStepsInFlight> sizes{};  // receives get a zeroed array, sends use the first only
    int done = kNotWritten;
    const abi::Result result = guard("test", [&] { return net_.test(request, &done, sizes.data()); });
    if (result != abi::kSuccess) {
      return fail(result_error(result, absl::StrCat("test of a message ", describe(lane.key))));
    }
    if (done == kNotWritten) return fail(absl::InternalError("test did not say whether the request is done"));
    if (done == 0) break;
    const std::uint64_t operation = lane.completed.operation;
    const StepIndex index = lane.steps[lane.completed.index];
    const std::uint64_t bytes = schedule_.steps[index].bytes;
    if (!lane.key.sending && static_cast<std::uint64_t>(sizes[0]) != bytes) {
      return fail(absl::DataLossError(absl::StrCat("test of a message ", describe(lane.key), " reports ", sizes[0],
                                                   " bytes, but ", bytes, " were sent")));
    }
    lane.completed.advance(lane.steps.size());
    complete(operation, index);
    run_ready(operation);
    outcome = Outcome::kMoved;
  }
  return outcome;
}

void Engine::record_duration() {
  const Clock::time_point now = Clock::now();
  const std::int64_t duration = std::chrono::nanoseconds(now - settled_at_).count();
  settled_at_ = now;
  if (durations_.size() == durations_.capacity()) return;
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  durations_.push_back(static_cast<std::uint32_t>(std::min(duration, kMost)));
}

bool Engine::advance_operations() {
  bool moved = false;
  if (settled_ == running_ && running_ < operations_ && open_[running_ % kOperationsOpen].unsettled == 0) {
    record_duration();
    ++settled_;
    moved = true;
  }
  if (settled_ > running_ && running_ + 1 < opened_) {
    start_local_steps(++running_);
    moved = true;
  }
  const std::uint64_t oldest = finished_.load(std::memory_order_relaxed);
  if (oldest < settled_ && open_[oldest % kOperationsOpen].incomplete == 0) {
    finished_.store(oldest + 1, std::memory_order_relaxed);
    if (opened_ < operations_) open_operation(opened_++);
    moved = true;
  }
  return moved;
}

Engine::Outcome Engine::pass() {
  bool moved = run_one_copy();
  for (Lane& lane : lanes_) {
    const Outcome posted = post(lane);
    if (posted == Outcome::kFailed) return posted;
    const Outcome tested = test_oldest(lane);
    if (tested == Outcome::kFailed) return tested;
    moved = moved || posted == Outcome::kMoved || tested == Outcome::kMoved;
  }
  moved = advance_operations() || moved;
  return moved ? Outcome::kMoved : Outcome::kIdle;
}

std::string Engine::stuck_list() const {
  std::vector<std::string> list;
  for (const Lane& lane : lanes_) {
    if (lane.completed.count == operations_ * lane.steps.size()) continue;
    if (list.size() == kMostStuckNamed) {
      list.push_back("and more");
      break;
    }
    list.push_back(absl::StrCat(describe(lane.key), ": ", lane.posted.count, " posted, ", lane.completed.count,
                                " done of ", operations_ * lane.steps.size()));
  }
  return absl::StrJoin(list, "; ");
}

absl::Status Engine::run(std::uint64_t operations) {
  start_run(operations);
  const Clock::time_point start = settled_at_;
  Clock::time_point idle_since = start;
  bool idle = false;
  while (finished() < operations_) {
    control_.heartbeat.fetch_add(1, std::memory_order_relaxed);
    if (control_.stop.load(std::memory_order_relaxed)) return absl::CancelledError("stopped");
    const Outcome outcome = pass();
    if (outcome == Outcome::kFailed) return error_;
    if (outcome == Outcome::kMoved) {
      idle = false;
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (!std::exchange(idle, true)) idle_since = now;
    if (now - idle_since > settings_.timeout) {
      return absl::DeadlineExceededError(absl::StrCat("no message moved for ", seconds_of(settings_.timeout),
                                                      " s in operation ", finished(), ": ", stuck_list()));
    }
    if (settings_.idle.count() > 0) {
      std::this_thread::sleep_for(settings_.idle);
    } else {
      sched_yield();
    }
  }
  elapsed_ = Clock::now() - start;
  return absl::OkStatus();
}

}  // namespace cableway::collperf
