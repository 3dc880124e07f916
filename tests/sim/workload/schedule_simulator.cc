#include "tests/sim/workload/schedule_simulator.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cableway::workload {

ScheduleSimulator::ScheduleSimulator(std::vector<Schedule> schedules, std::vector<Bytes> inputs, int in_flight,
                                     unsigned seed)
    : ranks_(schedules.size()), in_flight_(static_cast<std::size_t>(in_flight)), random_(seed) {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    rank.schedule = std::move(schedules[r]);
    rank.memory = {std::move(inputs[r]), Bytes(rank.schedule.output_bytes, 0xA5),
                   Bytes(rank.schedule.staging_bytes, 0xA5)};
    const std::vector<Step>& steps = rank.schedule.steps;
    rank.waiting.resize(steps.size());
    rank.dependents.resize(steps.size());
    for (StepIndex i = 0; i < steps.size(); ++i) {
      rank.waiting[i] = steps[i].dependency_count;
      for (std::uint32_t d = 0; d < steps[i].dependency_count; ++d) {
        rank.dependents[rank.schedule.dependencies[steps[i].first_dependency + d]].push_back(i);
      }
      const int self = static_cast<int>(r);
      if (steps[i].kind == StepKind::kSend) {
        Lane& lane = connections_[{self, steps[i].peer, steps[i].channel}].send;
        lane.rank = r;
        lane.steps.push_back(i);
      } else if (steps[i].kind == StepKind::kReceive) {
        Lane& lane = connections_[{steps[i].peer, self, steps[i].channel}].receive;
        lane.rank = r;
        lane.steps.push_back(i);
      } else {
        rank.local.push_back(i);
      }
    }
  }
}

std::uint8_t* ScheduleSimulator::at(std::size_t rank, Location location, std::uint64_t bytes) {
  Bytes& memory = ranks_[rank].memory[static_cast<std::size_t>(location.region)];
  if (location.offset + bytes > memory.size()) {
    error_ = absl::StrCat("rank ", rank, " uses bytes beyond the end of region ", static_cast<int>(location.region));
    return nullptr;
  }
  return memory.data() + location.offset;
}

bool ScheduleSimulator::may_start(const Lane& lane) const {
  return lane.started < lane.steps.size() && lane.started - lane.completed < in_flight_ &&
         ranks_[lane.rank].waiting[lane.steps[lane.started]] == 0;
}

void ScheduleSimulator::complete(std::size_t rank, StepIndex step) {
  ++ranks_[rank].completed;
  for (StepIndex dependent : ranks_[rank].dependents[step]) --ranks_[rank].waiting[dependent];
}

bool ScheduleSimulator::start_send(Lane& lane) {
  if (!may_start(lane)) return false;
  const Step& step = ranks_[lane.rank].schedule.steps[lane.steps[lane.started]];
  const std::uint8_t* const source = at(lane.rank, step.source, step.bytes);
  if (!error_.empty()) return true;
  lane.sources.emplace_back(source, source + step.bytes);
  ++lane.started;
  return true;
}

bool ScheduleSimulator::start_receive(Lane& lane) {
  if (!may_start(lane)) return false;
  const Step& step = ranks_[lane.rank].schedule.steps[lane.steps[lane.started]];
  std::uint8_t* const target = at(lane.rank, step.target, step.capacity);
  if (!error_.empty()) return true;
  if (step.capacity > 0) std::memset(target, 0x5A, step.capacity);
  ++lane.started;
  return true;
}

bool ScheduleSimulator::deliver(Connection& connection) {
  Lane& from = connection.send;
  Lane& to = connection.receive;
  if (from.moved == from.started || to.moved == to.started) return false;
  const Step& sent = ranks_[from.rank].schedule.steps[from.steps[from.moved]];
  const StepIndex index = to.steps[to.moved];
  const Step& received = ranks_[to.rank].schedule.steps[index];
  if (sent.bytes != received.bytes || received.capacity < sent.bytes) {
    error_ = absl::StrCat("message ", from.moved, " from rank ", from.rank, " to rank ", to.rank, " has ", sent.bytes,
                          " bytes where ", received.bytes, " are received");
    return true;
  }
  if (sent.bytes > 0) {
    std::memcpy(at(to.rank, received.target, sent.bytes), at(from.rank, sent.source, sent.bytes), sent.bytes);
  }
  ++from.moved;
  ++to.moved;
  ++to.completed;
  ++messages_;
  complete(to.rank, index);
  return true;
}

bool ScheduleSimulator::complete_send(Lane& lane) {
  if (lane.completed == lane.moved) return false;
  const StepIndex index = lane.steps[lane.completed];
  const Step& step = ranks_[lane.rank].schedule.steps[index];
  const Bytes& before = lane.sources.front();
  if (step.bytes > 0 && std::memcmp(before.data(), at(lane.rank, step.source, step.bytes), step.bytes) != 0) {
    error_ = absl::StrCat("rank ", lane.rank, " changed the source of message ", lane.completed, " before it was sent");
  }
  lane.sources.pop_front();
  ++lane.completed;
  complete(lane.rank, index);
  return true;
}

bool ScheduleSimulator::run_local(Rank& rank) {
  const std::size_t self = static_cast<std::size_t>(&rank - ranks_.data());
  std::vector<std::size_t> possible;
  for (std::size_t i = 0; i < rank.local.size() && possible.size() < 8; ++i) {
    if (rank.waiting[rank.local[i]] == 0) possible.push_back(i);
  }
  if (possible.empty()) return false;
  const std::size_t chosen = possible[random_() % possible.size()];
  const StepIndex index = rank.local[chosen];
  rank.local.erase(rank.local.begin() + static_cast<std::ptrdiff_t>(chosen));
  const Step& step = rank.schedule.steps[index];
  std::uint8_t* const target = at(self, step.target, step.bytes);
  const std::uint8_t* const source = at(self, step.source, step.bytes);
  const std::uint8_t* const addend = at(self, step.addend, step.kind == StepKind::kAdd ? step.bytes : 0);
  if (!error_.empty()) return true;
  if (step.kind == StepKind::kCopy) {
    if (step.bytes > 0) std::memcpy(target, source, step.bytes);
  } else {
    for (std::uint64_t i = 0; i + 4 <= step.bytes; i += 4) {
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      std::memcpy(&a, source + i, 4);
      std::memcpy(&b, addend + i, 4);
      a += b;
      std::memcpy(target + i, &a, 4);
    }
  }
  complete(self, index);
  return true;
}

bool ScheduleSimulator::act(Connection& connection) {
  bool acted = false;
  if (chance()) acted = start_send(connection.send) || acted;
  if (chance()) acted = start_receive(connection.receive) || acted;
  if (chance()) acted = deliver(connection) || acted;
  if (chance()) acted = complete_send(connection.send) || acted;
  return acted;
}

std::string ScheduleSimulator::run() {
  std::vector<Connection*> order;
  for (auto& [id, connection] : connections_) order.push_back(&connection);
  // A round may do nothing by chance, but not this many in a row.
  for (int idle_rounds = 0; idle_rounds < 50 && error_.empty();) {
    std::ranges::shuffle(order, random_);
    bool acted = false;
    for (Connection* connection : order) acted = act(*connection) || acted;
    for (Rank& rank : ranks_) {
      if (chance()) acted = run_local(rank) || acted;
    }
    idle_rounds = acted ? 0 : idle_rounds + 1;
  }
  if (!error_.empty()) return error_;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].completed != ranks_[r].schedule.steps.size()) {
      return absl::StrCat("rank ", r, " is stuck after ", ranks_[r].completed, " of ", ranks_[r].schedule.steps.size(),
                          " steps");
    }
  }
  return "";
}

}  // namespace cableway::workload
