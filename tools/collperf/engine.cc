#include "tools/collperf/engine.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::collperf {

using workload::StepKind;

namespace {

namespace abi = nccl::abi;

constexpr std::size_t kMaxDurations = std::size_t{1} << 20;
constexpr std::size_t kMaxStuckNamed = 8;

// Two functions, because a compiler vectorises a loop only if it knows whether the arrays are distinct or the same.
void add_in_place(std::uint32_t* target, const std::uint32_t* addend, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) target[i] += addend[i];
}

void add_into(std::uint32_t* target, const std::uint32_t* source, const std::uint32_t* addend, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) target[i] = source[i] + addend[i];
}

}  // namespace

template <typename Call>
abi::Result Engine::guard(const char* name, Call call) {
  control_.call.store(name, std::memory_order_relaxed);
  const abi::Result result = call();
  control_.call.store(nullptr, std::memory_order_relaxed);
  return result;
}

void Engine::prepare(Schedule schedule, const ConnectionTable& connections) {
  progress_.prepare(std::move(schedule));
  lanes_.clear();
  for (std::size_t i = 0; i < progress_.lanes(); ++i) {
    Lane lane{i, progress_.key(i), &connections.get(progress_.key(i)), {}};
    lane.requests.resize(static_cast<std::size_t>(settings_.in_flight));
    lanes_.push_back(std::move(lane));
  }
}

void Engine::reset_statistics() {
  durations_.clear();
  durations_.reserve(kMaxDurations);
  bytes_sent_ = 0;
  messages_sent_ = 0;
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
  error_ = absl::OkStatus();
  settled_at_ = Clock::now();
  progress_.start(operations);
  run_adds();
}

void Engine::compute(const Due& due) {
  const Step& step = progress_.step(due);
  std::uint8_t* const target = at(step.target, due.operation);
  const std::uint8_t* const source = at(step.source, due.operation);
  if (step.kind == StepKind::kCopy) {
    std::memcpy(target, source, step.bytes);
  } else {
    auto* const words = reinterpret_cast<std::uint32_t*>(target);
    const auto* const addend = reinterpret_cast<const std::uint32_t*>(at(step.addend, due.operation));
    if (target == source) {
      add_in_place(words, addend, step.bytes / sizeof(std::uint32_t));
    } else {
      add_into(words, reinterpret_cast<const std::uint32_t*>(source), addend, step.bytes / sizeof(std::uint32_t));
    }
  }
  progress_.computed(due);
}

void Engine::run_adds() {
  while (const auto due = progress_.take_add()) compute(*due);
}

bool Engine::run_one_copy() {
  const auto due = progress_.take_copy();
  if (!due.has_value()) return false;
  compute(*due);
  run_adds();
  return true;
}

Engine::Outcome Engine::post_one(const Lane& lane, const Due& due, void** request) {
  const Step& step = progress_.step(due);
  const std::uint64_t operation = due.operation;
  void* const comm = lane.connection->comm;
  if (lane.key.sending) {
    const abi::Result result = guard("isend", [&] {
      return net_.isend(comm, at(step.source, operation), step.bytes, mhandle_of(lane, step.source, operation),
                        request);
    });
    if (result != abi::kSuccess) return fail(result_error(result, absl::StrCat("isend ", describe(lane.key))));
    return Outcome::kMoved;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): NCCL's interface passes a number as a pointer
  void* const hint = reinterpret_cast<void*>(abi::kOptionalRecvCompletion);
  if (settings_.recv_hint && net_.abi_version() >= 9) *request = hint;
  const abi::Result result = guard("irecv", [&] {
    return net_.irecv(comm, at(step.target, operation), step.capacity, mhandle_of(lane, step.target, operation),
                      request);
  });
  if (result != abi::kSuccess) return fail(result_error(result, absl::StrCat("irecv ", describe(lane.key))));
  if (*request == hint) {
    return fail(absl::InternalError(
        absl::StrCat("irecv ", describe(lane.key), " left NCCL's hint in *request, which NCCL treats as a request")));
  }
  return Outcome::kMoved;
}

Engine::Outcome Engine::post(Lane& lane) {
  Outcome outcome = Outcome::kIdle;
  while (const auto due = progress_.due(lane.index)) {
    void* request = nullptr;
    if (post_one(lane, *due, &request) == Outcome::kFailed) return Outcome::kFailed;
    if (request == nullptr) break;  // "not now"
    lane.requests[progress_.posted_count(lane.index) % lane.requests.size()] = request;
    progress_.posted(lane.index);
    if (lane.key.sending) {
      bytes_sent_ += progress_.step(*due).bytes;
      ++messages_sent_;
    }
    outcome = Outcome::kMoved;
  }
  return outcome;
}

Engine::Outcome Engine::test_oldest(Lane& lane) {
  constexpr int kNotWritten = -1;
  Outcome outcome = Outcome::kIdle;
  while (progress_.completed_count(lane.index) < progress_.posted_count(lane.index)) {
    void* const request = lane.requests[progress_.completed_count(lane.index) % lane.requests.size()];
    std::array<int, abi::kStepsInFlight> sizes{};  // receives get a zeroed array, sends use the first only
    int done = kNotWritten;
    const abi::Result result = guard("test", [&] { return net_.test(request, &done, sizes.data()); });
    if (result != abi::kSuccess) {
      return fail(result_error(result, absl::StrCat("test of a message ", describe(lane.key))));
    }
    if (done == kNotWritten) return fail(absl::InternalError("test did not set *done"));
    if (done == 0) break;
    const std::uint64_t bytes = progress_.step(progress_.oldest(lane.index)).bytes;
    if (!lane.key.sending && static_cast<std::uint64_t>(sizes[0]) != bytes) {
      return fail(absl::DataLossError(absl::StrCat("test of a message ", describe(lane.key), " reports ", sizes[0],
                                                   " bytes, but ", bytes, " were sent")));
    }
    progress_.completed(lane.index);
    run_adds();
    outcome = Outcome::kMoved;
  }
  return outcome;
}

void Engine::record_duration() {
  const Clock::time_point now = Clock::now();
  const std::int64_t duration = std::chrono::nanoseconds(now - settled_at_).count();
  settled_at_ = now;
  if (durations_.size() == durations_.capacity()) return;
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  durations_.push_back(static_cast<std::uint32_t>(std::min(duration, kMax)));
}

bool Engine::advance_operations() {
  const workload::ScheduleProgress::Advance done = progress_.advance();
  if (done.settled) record_duration();
  if (done.moved) run_adds();
  return done.moved;
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
    const std::uint64_t completed = progress_.completed_count(lane.index);
    const std::uint64_t messages = progress_.messages(lane.index);
    if (completed == messages) continue;
    if (list.size() == kMaxStuckNamed) {
      list.push_back("and more");
      break;
    }
    list.push_back(absl::StrCat(describe(lane.key), ": ", progress_.posted_count(lane.index), " posted, ", completed,
                                " done of ", messages));
  }
  return absl::StrJoin(list, "; ");
}

absl::Status Engine::run(std::uint64_t operations) {
  start_run(operations);
  const Clock::time_point start = settled_at_;
  Clock::time_point idle_since = start;
  bool idle = false;
  while (finished() < operations) {
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
